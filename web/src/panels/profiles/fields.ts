/** What a profile's form asks for, and how what is written there becomes a definition. The hub says what is wrong. */
import { get } from '@/api/http'
import type { AgentsDefinition } from '@/api/rows'

export type Key = Exclude<keyof AgentsDefinition, 'type'>
export type Kind = 'text' | 'long' | 'words' | 'lines' | 'pairs' | 'json' | 'number' | 'flag' | 'choice' | 'many' | 'driver'
export interface Field {
  key: Key
  kind: Kind
  of?: string[]
  wide?: boolean
}

export const PARTS: { name: string; fields: Field[] }[] = [
  { name: 'who', fields: [{ key: 'display_name', kind: 'text' }, { key: 'capabilities', kind: 'words' }, { key: 'description', kind: 'text', wide: true }] },
  {
    name: 'program',
    fields: [
      { key: 'driver', kind: 'driver' },
      { key: 'model', kind: 'text' },
      { key: 'command', kind: 'lines', wide: true },
      { key: 'instructions', kind: 'long', wide: true },
      { key: 'skills', kind: 'words' },
      { key: 'pass_env', kind: 'words' },
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
      { key: 'allowed_tools', kind: 'words' },
      { key: 'denied_tools', kind: 'words' },
    ],
  },
  { name: 'place', fields: [{ key: 'directory', kind: 'text', wide: true }, { key: 'worktree', kind: 'flag', wide: true }, { key: 'node', kind: 'text' }, { key: 'labels', kind: 'words' }] },
  {
    name: 'limits',
    fields: (['timeout_s', 'start_timeout_s', 'idle_s', 'max_depth', 'max_children', 'max_tokens', 'max_cost_usd'] as const).map((key) => ({ key, kind: 'number' as const })),
  },
  { name: 'wake', fields: [{ key: 'wake_on', kind: 'many', of: ['mention', 'handoff', 'mail'], wide: true }, { key: 'invite_prompt', kind: 'long', wide: true }] },
]
export const FIELDS = PARTS.flatMap((part) => part.fields)

type Value = string | boolean | string[]
export type Draft = Record<string, Value>

interface Described {
  components: { schemas: Record<string, { properties?: Record<string, { default?: unknown }> }> }
}
let described: Promise<Record<string, unknown>> | null = null

/** What each key is when nobody writes it, as the hub describes it. */
export function defaults(): Promise<Record<string, unknown>> {
  described ??= get<Described>('/openapi.json').then(({ components }) => {
    const found = Object.values(components.schemas).find((one) => one.properties && 'may_spawn' in one.properties)?.properties
    if (!found) throw new Error('The hub does not describe profiles.')
    return Object.fromEntries(Object.entries(found).map(([key, one]) => [key, one.default]))
  })
  described.catch(() => (described = null))
  return described
}

function shown(kind: Kind, value: unknown): Value {
  if (kind === 'flag') return Boolean(value)
  if (kind === 'many') return [...((value as string[] | undefined) ?? [])]
  if (value === null || value === undefined) return ''
  if (kind === 'words') return (value as string[]).join(', ')
  if (kind === 'lines') return (value as string[]).join('\n')
  if (kind === 'pairs') return Object.entries(value as Record<string, string>).map(([name, text]) => `${name}=${text}`).join('\n')
  if (kind === 'json') return Object.keys(value as object).length ? JSON.stringify(value, null, 2) : ''
  return String(value)
}

export const draftOf = (definition: Partial<AgentsDefinition>, usual: Record<string, unknown>): Draft =>
  Object.fromEntries(FIELDS.map(({ key, kind }) => [key, shown(kind, definition[key] ?? usual[key])]))

function meant(kind: Kind, value: Value): unknown {
  if (kind === 'flag' || kind === 'many') return value
  const text = String(value)
  if (kind === 'words') return text.split(/[\s,]+/).filter(Boolean)
  if (kind === 'lines') return text.split('\n').filter((line) => line.trim())
  if (kind === 'pairs')
    return Object.fromEntries(text.split('\n').filter((line) => line.trim()).map((line) => [line.split('=', 1)[0]!.trim(), line.includes('=') ? line.slice(line.indexOf('=') + 1) : '']))
  if (kind === 'json') return text.trim() ? JSON.parse(text) : {}
  if (!text.trim()) return null
  return kind === 'number' ? Number(text) : kind === 'long' ? text : text.trim()
}

/** The definition that is written, without what is as usual; keys that the form does not ask for stay. Throws for JSON that is none. */
export function definitionOf(draft: Draft, before: Partial<AgentsDefinition>, usual: Record<string, unknown>): Record<string, unknown> {
  const made: Record<string, unknown> = { ...before }
  for (const { key, kind } of FIELDS) {
    const value = meant(kind, draft[key] ?? '')
    const same = JSON.stringify(value) === JSON.stringify(usual[key] ?? null) || (value === null && key !== 'driver')
    if (same) delete made[key]
    else made[key] = value ?? ''
  }
  return made
}
