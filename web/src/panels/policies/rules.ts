/** Rules as the form asks for them, in a few words, and as they stand in policy.toml. */
import type { Rule } from '@/api/rows'
import { language, joinWords, t } from '@/browser/i18n'
import { renderWords } from '@/browser/sentences'
import { reveal } from '@/kit/hiddenCharacters'
import { parseField, formatField, type FormDraft, type Field, type FormPart } from '@/kit/form'

export const DECISIONS = ['allow', 'ask', 'deny'] as const

export interface NamedRule {
  name: string
  rule: Rule
  source?: string
}

interface Asked extends Field {
  key: Exclude<keyof Rule, 'decision'>
}
export const PARTS: FormPart<Asked>[] = [
  {
    name: 'what',
    fields: [
      { key: 'kinds', kind: 'many', of: ['read', 'search', 'write', 'execute', 'network', 'plan', 'hub', 'other'], wide: true },
      { key: 'commands', kind: 'lines', wide: true },
      { key: 'tools', kind: 'words', mono: true },
      { key: 'hosts', kind: 'words', mono: true },
      { key: 'paths', kind: 'lines', wide: true },
      { key: 'directories', kind: 'lines', wide: true },
      { key: 'calls', kind: 'words', mono: true, wide: true },
      { key: 'where', kind: 'choice', of: ['any', 'inside', 'outside'], usual: 'any' },
      { key: 'arguments', kind: 'pairs', wide: true },
    ],
  },
  {
    name: 'who',
    fields: [
      { key: 'profiles', kind: 'words' },
      { key: 'threads', kind: 'words', mono: true },
      { key: 'min_depth', kind: 'number' },
      { key: 'max_depth', kind: 'number' },
      { key: 'runs', kind: 'words', mono: true, wide: true },
    ],
  },
  {
    name: 'when',
    fields: [
      { key: 'days', kind: 'many', of: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], wide: true },
      { key: 'hours', kind: 'text', mono: true },
      { key: 'until', kind: 'time' },
      { key: 'when', kind: 'text', mono: true, wide: true },
    ],
  },
  {
    name: 'say',
    fields: [
      { key: 'risk', kind: 'choice', of: ['', 'low', 'medium', 'high'] },
      { key: 'once', kind: 'choice', of: ['', 'run'] },
      { key: 'note', kind: 'text', wide: true },
    ],
  },
]
const FIELDS = PARTS.flatMap((part) => part.fields)

export function buildDraft(rule: Rule): FormDraft {
  const said = { ...rule, note: renderWords(rule.note) }
  return Object.fromEntries(FIELDS.map((field) => [field.key, formatField(field, said)]))
}

/** The rule that the form says, without what says nothing. */
export function buildRule(decision: Rule['decision'], draft: FormDraft): Rule {
  const found = FIELDS.map((field) => [field.key, parseField(field, draft[field.key] ?? '')] as const)
  return { decision, ...Object.fromEntries(found.filter(([, value]) => value !== undefined)) }
}

/** What a rule is about, as far as it says so. The commands come first; a rule that holds the key of a call has them in its note. */
export function describeRule(rule: Rule): string {
  const note = renderWords(rule.note)
  const parts = [
    rule.calls?.length ? note : rule.commands?.join(' · '),
    rule.tools?.join(', '),
    joinWords((rule.kinds ?? []).map((kind) => t(`policies.choices.${kind}`))),
    ...Object.entries(rule.arguments ?? {}).map(([name, pattern]) => `${name}=${pattern}`),
    rule.paths?.join(', '),
    rule.directories?.join(', '),
    rule.where && rule.where !== 'any' ? t(`policies.choices.where.${rule.where}`).toLowerCase() : '',
    rule.hosts?.join(', '),
    rule.profiles?.length ? `@${rule.profiles.join(', @')}` : '',
    rule.when,
    joinWords((rule.days ?? []).map((day) => t(`policies.choices.${day}`))),
    rule.hours,
    rule.calls?.length ? '' : note,
  ]
  return parts
    .filter(Boolean)
    .map((part) => reveal(part!))
    .join(' · ')
}

/** When a rule ends or has ended, as a sentence; empty if it stays until somebody removes it. */
export function describeExpiry(rule: Rule, now: number): string {
  if (!rule.until) return ''
  const date = new Date(rule.until).toLocaleDateString(language.value, { dateStyle: 'medium' })
  return t(rule.until > now ? 'policies.until' : 'policies.ended', { date })
}

/** The rule as it would stand in policy.toml. */
export function toToml(name: string, rule: Rule): string {
  const text = (key: string, value: unknown): string => {
    if (key === 'until') return new Date(value as number).toISOString()
    if (Array.isArray(value)) return `[${value.map((one) => JSON.stringify(one)).join(', ')}]`
    if (typeof value === 'object' && value)
      return `{ ${Object.entries(value)
        .map(([inner, one]) => `${JSON.stringify(inner)} = ${JSON.stringify(one)}`)
        .join(', ')} }`
    return JSON.stringify(value)
  }
  return [
    '[[rules]]',
    `name = ${JSON.stringify(name)}`,
    ...Object.entries(rule).map(([key, value]) => `${key} = ${text(key, value)}`),
  ].join('\n')
}
