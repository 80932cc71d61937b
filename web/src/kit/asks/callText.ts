/** What an ask would have done, as text. Knows no DOM and no language. */
import type { Ask, Subject } from '@/api/rows'

const argumentsOf = (subject: Subject | null | undefined) => (subject?.arguments ?? {}) as Record<string, unknown>
const isPlain = (word: string) => /^[\w@%+=:,./-]+$/.test(word)
const quoted = (word: string) => (isPlain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** The command that would run, as one text. */
export function getCommand(subject: Subject | null | undefined): string | null {
  const { command, cmd } = argumentsOf(subject)
  const found = command ?? cmd
  if (Array.isArray(found)) return found.map((word) => quoted(String(word))).join(' ')
  return typeof found === 'string' ? found : null
}

const textIn = (subject: Subject | null | undefined, ...names: string[]): string | null => {
  const given = argumentsOf(subject)
  return (names.map((name) => given[name]).find((one) => typeof one === 'string') as string | undefined) ?? null
}
export const getPath = (subject: Subject | null | undefined): string | null => textIn(subject, 'path', 'file_path', 'filePath')

/** What a file would become, and from what. */
export function getChange(subject: Subject | null | undefined): { before: string; after: string } | null {
  const before = textIn(subject, 'old_string', 'oldText', 'old_str')
  const after = textIn(subject, 'new_string', 'newText', 'new_str', 'content')
  return after === null || (before === null && !getPath(subject)) ? null : { before: before ?? '', after }
}

const LINE = 200
const isLine = (text: string) => text.length <= LINE && !/[\n\r\u2028\u2029]/.test(text)

/** All that would be approved, in one line that a list can show to its end; null if one has to open it to see all.
 *  The title and the text are as they are shown. */
export function getCallLine(ask: Ask, title: string, text: string): string | null {
  if (ask.form || ask.contents?.length || ask.labels?.reach) return null
  if (text && text.trim() !== title.trim() && !ask.subject) return null
  const line = ask.subject ? callLineOf(ask.subject) : title
  return line !== null && isLine(line) ? line : null
}
function callLineOf(subject: Subject): string | null {
  if (getChange(subject) || (subject.arguments && typeof subject.arguments !== 'object')) return null
  const command = getCommand(subject)
  const shown = command === null ? null : 'command' in argumentsOf(subject) ? 'command' : 'cmd'
  const others = Object.entries(argumentsOf(subject)).filter(([name]) => name !== shown)
  if (others.some(([, value]) => typeof value === 'object' && value !== null)) return null
  return [command ?? subject.tool, ...others.map(([name, value]) => `${name}: ${String(value)}`)].join(' · ')
}
