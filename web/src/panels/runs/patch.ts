/** A difference as git writes it, taken apart into files. */
export interface Changed {
  name: string
  lines: { kind: 'same' | 'new' | 'gone' | 'place'; text: string }[]
  fresh: number
  gone: number
}

const KINDS: Record<string, 'new' | 'gone'> = { '+': 'new', '-': 'gone' }
/** What git says of a file before its lines; the name is told by the first of them. */
const ABOUT = /^(index |--- |\+\+\+ |old mode |similarity |rename |copy |Binary files )/

export function filesOf(diff: string): Changed[] {
  const files: Changed[] = []
  let isInside = false
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    const name = /^diff --git .* "?b\/(.+?)"?$/.exec(text)?.[1]
    if (name !== undefined) {
      files.push({ name, lines: [], fresh: 0, gone: 0 })
      isInside = false
      continue
    }
    const file = files.at(-1)
    if (!file) continue
    if (text.startsWith('@@')) {
      isInside = true
      if (file.lines.length) file.lines.push({ kind: 'place', text: '' })
    } else if (isInside) {
      const kind = KINDS[text[0] ?? ''] ?? 'same'
      file.lines.push({ kind: text.startsWith('\\') ? 'place' : kind, text: text.startsWith('\\') ? text.slice(2) : text.slice(1) })
      if (kind === 'new') file.fresh++
      else if (kind === 'gone') file.gone++
    } else if (!ABOUT.test(text) || text.startsWith('Binary')) {
      file.lines.push({ kind: 'place', text })
    }
  }
  return files
}
