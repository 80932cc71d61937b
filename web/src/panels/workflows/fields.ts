/** What the forms of a workflow, of its steps and of its triggers ask for; the keys are those of the definition. */
import type { Step, Trigger } from '@/api/rows'
import type { Field, FormPart } from '@/kit/form'

export const STEP_KINDS = ['agent', 'workflow', 'wait', 'set', 'gate'] as const
export type StepKind = (typeof STEP_KINDS)[number]
export const getStepKind = (step: Step): StepKind =>
  step.workflow != null ? 'workflow' : step.wait ? 'wait' : step.set ? 'set' : step.prompt == null && step.skill == null ? 'gate' : 'agent'

const text = (key: string, more: Partial<Field> = {}): Field => ({ key, kind: 'text', ...more })
const number = (key: string): Field => ({ key, kind: 'number' })
const choice = (key: string, of: string[], more: Partial<Field> = {}): Field => ({ key, kind: 'choice', of, usual: of[0], ...more })
const mono = { mono: true }
const wide = { wide: true }

const AGENT: FormPart[] = [
  {
    name: 'agent',
    open: true,
    fields: [
      text('profile'),
      text('agent_runtime'),
      { key: 'prompt', kind: 'long', ...wide, ...mono },
      text('skill'),
      text('reuse_agent'),
      { key: 'keep_agent', kind: 'flag' },
      text('keep_as'),
    ],
  },
  {
    name: 'config',
    fields: [
      text('agent_config.name'),
      text('agent_config.model'),
      text('agent_config.work_dir', mono),
      number('agent_config.timeout_s'),
      number('agent_config.max_tokens'),
      number('agent_config.temperature'),
      { key: 'agent_config.system_prompt', kind: 'long', ...wide },
    ],
  },
  {
    name: 'given',
    fields: [
      { key: 'files', kind: 'lines' },
      { key: 'context', kind: 'many', of: ['outputs', 'variables', 'summary'], usual: ['outputs'] },
      { key: 'output_schema', kind: 'json', ...wide },
    ],
  },
]
const OF_KIND: Record<StepKind, FormPart[]> = {
  agent: AGENT,
  workflow: [{ name: 'nested', open: true, fields: [text('workflow', wide)] }],
  wait: [
    {
      name: 'wait',
      open: true,
      fields: [
        { key: 'wait.seconds', kind: 'value', ...mono },
        text('wait.until', mono),
        text('wait.message.thread'),
        text('wait.message.from'),
        text('wait.message.contains'),
        text('wait.webhook', mono),
      ],
    },
  ],
  set: [{ name: 'set', open: true, fields: [{ key: 'set', kind: 'values', ...wide }] }],
  gate: [],
}
const ORDER: FormPart = {
  name: 'order',
  open: true,
  fields: [{ key: 'dependencies', kind: 'many', of: [], ...wide }, text('when', mono), choice('join', ['all', 'any'])],
}
const DATA: FormPart = {
  name: 'data',
  fields: [
    { key: 'inputs', kind: 'values', ...wide },
    { key: 'output', kind: 'result', ...wide },
    { key: 'save', kind: 'values', ...wide },
  ],
}
const AGAIN: FormPart = {
  name: 'again',
  fields: [
    { key: 'for_each.items', kind: 'value', ...mono },
    text('for_each.as', mono),
    number('for_each.parallel'),
    choice('for_each.join', ['all', 'any', 'settled']),
    text('loop.until', mono),
    text('loop.while', mono),
    number('loop.max'),
  ],
}
const WRONG: FormPart = {
  name: 'wrong',
  fields: [
    number('timeout_s'),
    choice('on_error', ['abort', 'skip', 'ignore']),
    number('retry.max'),
    number('retry.backoff_s'),
    number('retry.factor'),
    number('retry.max_backoff_s'),
    number('retry.jitter'),
    choice('on_crash', ['resume', 'rerun', 'probe', 'ask']),
    { key: 'retry.on', kind: 'many', of: ['failed', 'timeout', 'interrupted', 'output', 'expression'], ...wide },
  ],
}
const PEOPLE: FormPart = {
  name: 'people',
  fields: [
    choice('level.kind', ['mechanical', 'recommended', 'confirmed', 'arbitrated']),
    choice('level.default', ['run', 'skip', 'abort']),
    { key: 'level.question', kind: 'long', ...wide },
    number('level.timeout_s'),
    number('level.quorum'),
    { key: 'level.stakeholders', kind: 'words', ...wide },
  ],
}
const NAMED: FormPart = { name: 'named', fields: [text('name'), text('description')], open: true }

export const getStepParts = (kind: StepKind): FormPart[] => [
  NAMED,
  ...OF_KIND[kind],
  ORDER,
  DATA,
  ...(kind === 'agent' || kind === 'workflow' ? [AGAIN] : []),
  WRONG,
  kind === 'gate' ? { ...PEOPLE, open: true } : PEOPLE,
]
/** What only a step of a kind has. */
export const ONLY: Record<StepKind, string[]> = {
  agent: [
    'profile',
    'agent_runtime',
    'agent_config',
    'prompt',
    'skill',
    'reuse_agent',
    'keep_agent',
    'keep_as',
    'files',
    'context',
    'output_schema',
  ],
  workflow: ['workflow'],
  wait: ['wait'],
  set: ['set'],
  gate: [],
}
/** What takes a step back is always an agent's work, and has no place in the order. */
export const ROLLBACK: FormPart[] = [
  {
    name: 'rollback',
    open: true,
    fields: [text('name'), text('profile'), { key: 'prompt', kind: 'long', ...wide, ...mono }, text('skill'), number('timeout_s')],
  },
]
/** All that is written of a step in the one form. */
export const STEP_KEYS = new Set([
  'id',
  'rollback',
  ...[NAMED, ...Object.values(OF_KIND).flat(), ORDER, DATA, AGAIN, WRONG, PEOPLE]
    .flatMap((part) => part.fields)
    .map((field) => field.key.split('.')[0]!),
])

export const TRIGGER_KINDS = ['cron', 'webhook', 'message', 'after'] as const
export type TriggerKind = (typeof TRIGGER_KINDS)[number]
export const getTriggerKind = (trigger: Trigger): TriggerKind =>
  trigger.cron != null ? 'cron' : trigger.message ? 'message' : trigger.after ? 'after' : 'webhook'
const OF_TRIGGER: Record<TriggerKind, Field[]> = {
  cron: [text('cron', mono), text('timezone', { usual: 'UTC' }), choice('catch_up', ['once', 'skip', 'all'])],
  webhook: [],
  message: [text('message.thread'), text('message.from'), text('message.contains')],
  after: [text('after.workflow'), choice('after.status', ['completed', 'failed', 'any'])],
}
export const getTriggerParts = (kind: TriggerKind): FormPart[] => [
  { name: 'trigger', open: true, fields: [text('id', mono), ...OF_TRIGGER[kind], { key: 'inputs', kind: 'values', ...wide }] },
]
/** A trigger of a kind, as one begins with. */
export const FRESH_TRIGGER: Record<TriggerKind, Trigger> = {
  cron: { cron: '0 9 * * mon-fri' },
  webhook: { webhook: true },
  message: { message: { contains: 'please' } },
  after: { after: { workflow: '' } },
}

export const WHOLE: FormPart[] = [
  {
    name: 'whole',
    open: true,
    fields: [
      text('name'),
      choice('policy', ['all_success', 'first_success', 'allow_debt']),
      text('description', wide),
      { key: 'output', kind: 'result', ...wide },
      { key: 'variables', kind: 'values', ...wide },
    ],
  },
  {
    name: 'limits',
    fields: [number('limits.timeout_s'), number('limits.max_parallel'), number('limits.max_tokens'), number('limits.max_cost_usd')],
  },
]
export const INPUT: FormPart[] = [
  {
    name: 'input',
    open: true,
    fields: [
      choice('type', ['string', 'integer', 'number', 'boolean', 'list', 'object', 'any']),
      { key: 'default', kind: 'value' },
      text('description', wide),
      { key: 'choices', kind: 'words' },
      { key: 'required', kind: 'flag', usual: true },
    ],
  },
]
