/** What a form asks for, and how what is written in a field becomes a value and back. The hub says what is wrong. */
import type { InjectionKey, Ref } from 'vue'

/** How often something was undone or redone: forms then show what is written, also in the field that has the focus. */
export const UNDO_COUNT: InjectionKey<Ref<number>> = Symbol('undone')
export type FieldKind =
  'text' | 'long' | 'words' | 'lines' | 'pairs' | 'value' | 'values' | 'result' | 'json' | 'number' | 'flag' | 'choice' | 'many' | 'time'
export interface Field {
  /** The key of the value; `a.b` is a key inside another. */
  key: string
  kind: FieldKind
  /** What there is to choose from. */
  of?: string[]
  /** What it is when nothing is written. */
  usual?: unknown
  wide?: boolean
  mono?: boolean
}
export interface FormPart<F extends Field = Field> {
  name: string
  fields: F[]
  /** Shown even while nothing of it is written. */
  open?: boolean
}
export type FieldValue = string | boolean | string[]
export type FormDraft = Record<string, FieldValue>

const TWO = (number: number) => String(number).padStart(2, '0')
const localTime = (ms: number) => {
  const at = new Date(ms)
  return `${at.getFullYear()}-${TWO(at.getMonth() + 1)}-${TWO(at.getDate())}T${TWO(at.getHours())}:${TWO(at.getMinutes())}`
}
const pairsOf = (value: object) =>
  Object.entries(value)
    .map(([name, one]) => `${name}=${typeof one === 'string' ? one : JSON.stringify(one)}`)
    .join('\n')

/** A value as it stands in its field. */
export function formatFieldValue(kind: FieldKind, value: unknown): FieldValue {
  if (kind === 'flag') return Boolean(value)
  if (kind === 'many') return [...((value as string[] | undefined) ?? [])]
  if (value === null || value === undefined) return ''
  if (kind === 'words') return (value as string[]).join(', ')
  if (kind === 'lines') return (value as string[]).join('\n')
  if (kind === 'pairs' || kind === 'values' || (kind === 'result' && typeof value === 'object')) return pairsOf(value as object)
  if (kind === 'json') return Object.keys(value as object).length ? JSON.stringify(value, null, 2) : ''
  if (kind === 'time') return localTime(value as number)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const lines = (text: string) => text.split('\n').filter((line) => line.trim())
const pairs = (text: string, read: (text: string) => unknown) =>
  Object.fromEntries(
    lines(text).map((line) => [line.split('=', 1)[0]!.trim(), line.includes('=') ? read(line.slice(line.indexOf('=') + 1)) : '']),
  )

/** A text is an expression; a number, a list and the like are the value itself. */
function valueOf(text: string): unknown {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'string' ? text.trim() : found
  } catch {
    return text.trim()
  }
}

/** What a field means; null for one that says nothing. Throws for JSON that is none. */
export function parseFieldValue(kind: FieldKind, value: FieldValue): unknown {
  if (kind === 'flag' || kind === 'many') return value
  const text = String(value)
  if (kind === 'words') return text.split(/[\s,]+/).filter(Boolean)
  if (kind === 'lines') return lines(text)
  if (kind === 'pairs') return pairs(text, (one) => one)
  if (kind === 'values') return pairs(text, valueOf)
  if (kind === 'json') return text.trim() ? JSON.parse(text) : {}
  if (!text.trim()) return null
  if (kind === 'value') return valueOf(text)
  if (kind === 'result') return lines(text).every((line) => /^\s*[\w-]+\s*=(?!=)/.test(line)) ? pairs(text, valueOf) : text.trim()
  if (kind === 'time') return new Date(text).getTime()
  return kind === 'number' ? Number(text) : kind === 'long' ? text : text.trim()
}

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || value === false || (typeof value === 'object' && !Object.keys(value).length)

/** The value at `a.b` of an object. */
export const getByPath = (value: unknown, key: string): unknown =>
  key.split('.').reduce<unknown>((here, name) => (here as Record<string, unknown> | null | undefined)?.[name], value)

export const formatField = (field: Field, value: unknown): FieldValue =>
  formatFieldValue(field.kind, getByPath(value, field.key) ?? field.usual)

/** What a field says beyond what is usual; undefined for nothing. Throws for JSON that is none. */
export function parseField(field: Field, value: FieldValue): unknown {
  const found = parseFieldValue(field.kind, value)
  if (field.usual !== undefined) return JSON.stringify(found) === JSON.stringify(field.usual) || found === null ? undefined : found
  return isNothing(found) ? undefined : found
}
