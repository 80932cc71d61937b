/** What a profile's form asks for, and how what is written there becomes a definition. The hub says what is wrong. */
import { get } from '@/api/http'
import type { ProfileDefinition } from '@/api/rows'
import { parseFieldValue, formatFieldValue, type FormDraft, type Field, type FormPart } from '@/kit/form'

export type Key = Exclude<keyof ProfileDefinition, 'type'>
interface Asked extends Field {
  key: Key
}

export const PARTS: FormPart<Asked>[] = [
  {
    name: 'who',
    fields: [
      { key: 'display_name', kind: 'text' },
      { key: 'capabilities', kind: 'words' },
      { key: 'description', kind: 'text', wide: true },
    ],
  },
  {
    name: 'program',
    fields: [
      { key: 'driver', kind: 'choice' },
      { key: 'model', kind: 'text' },
      { key: 'command', kind: 'lines', wide: true },
      { key: 'instructions', kind: 'long', wide: true },
      { key: 'skills', kind: 'words' },
      { key: 'pass_env', kind: 'words', mono: true },
      { key: 'env', kind: 'pairs', wide: true },
      { key: 'options', kind: 'json', wide: true },
    ],
  },
  {
    name: 'leave',
    fields: [
      { key: 'approvals', kind: 'choice', of: ['always', 'on_risk', 'never', 'deny'] },
      { key: 'sandbox', kind: 'choice', of: ['none', 'bwrap'] },
      { key: 'may_write', kind: 'flag' },
      { key: 'may_execute', kind: 'flag' },
      { key: 'may_network', kind: 'flag' },
      { key: 'may_spawn', kind: 'flag' },
      { key: 'allowed_tools', kind: 'words', mono: true },
      { key: 'denied_tools', kind: 'words', mono: true },
    ],
  },
  {
    name: 'place',
    fields: [
      { key: 'directory', kind: 'text', wide: true, mono: true },
      { key: 'worktree', kind: 'flag', wide: true },
      { key: 'node', kind: 'text' },
      { key: 'labels', kind: 'words' },
    ],
  },
  {
    name: 'limits',
    fields: (['timeout_s', 'start_timeout_s', 'idle_s', 'max_depth', 'max_children', 'max_tokens', 'max_cost_usd'] as const).map((key) => ({
      key,
      kind: 'number' as const,
    })),
  },
  {
    name: 'wake',
    fields: [
      { key: 'wake_for_people', kind: 'flag', wide: true },
      { key: 'wake_on', kind: 'many', of: ['mention', 'handoff', 'mail'], wide: true },
      { key: 'invite_prompt', kind: 'long', wide: true },
    ],
  },
]
export const FIELDS = PARTS.flatMap((part) => part.fields)

interface Described {
  components: { schemas: Record<string, { properties?: Record<string, { default?: unknown }> }> }
}
let described: Promise<Record<string, unknown>> | null = null

/** What each key is when nobody writes it, as the hub describes it. */
export function loadDefaults(): Promise<Record<string, unknown>> {
  described ??= get<Described>('/openapi.json').then(({ components }) => {
    const found = Object.values(components.schemas).find((one) => one.properties && 'may_spawn' in one.properties)?.properties
    if (!found) throw new Error('The hub does not describe profiles.')
    return Object.fromEntries(Object.entries(found).map(([key, one]) => [key, one.default]))
  })
  described.catch(() => (described = null))
  return described
}

export const buildDraft = (definition: Partial<ProfileDefinition>, usual: Record<string, unknown>): FormDraft =>
  Object.fromEntries(FIELDS.map(({ key, kind }) => [key, formatFieldValue(kind, definition[key] ?? usual[key])]))

/** The definition that is written, without what is as usual; keys that the form does not ask for stay. Throws for JSON that is none. */
export function buildDefinition(
  draft: FormDraft,
  before: Partial<ProfileDefinition>,
  usual: Record<string, unknown>,
): Record<string, unknown> {
  const made: Record<string, unknown> = { ...before }
  for (const { key, kind } of FIELDS) {
    const value = parseFieldValue(kind, draft[key] ?? '')
    const same = JSON.stringify(value) === JSON.stringify(usual[key] ?? null) || (value === null && key !== 'driver')
    if (same) delete made[key]
    else made[key] = value ?? ''
  }
  return made
}
