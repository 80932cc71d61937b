/** A difference as git writes it, taken apart into files. */
export interface PatchLine {
  kind: 'same' | 'new' | 'gone' | 'place'
  text: string
}
export interface ChangedFile {
  name: string
  state: '' | 'made' | 'removed'
  lines: PatchLine[]
  fresh: number
  gone: number
}

const KINDS: Record<string, 'new' | 'gone'> = { '+': 'new', '-': 'gone' }
/** What git says of a file before its lines; the name is told by the first of them. */
const ABOUT = /^(index |--- |\+\+\+ |old mode |similarity |rename |copy )/

export function parsePatch(diff: string): ChangedFile[] {
  const files: ChangedFile[] = []
  let isInside = false
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    const name = /^diff --git .* "?b\/(.+?)"?$/.exec(text)?.[1]
    if (name !== undefined) {
      files.push({ name, state: '', lines: [], fresh: 0, gone: 0 })
      isInside = false
      continue
    }
    const file = files.at(-1)
    if (!file) continue
    if (text.startsWith('@@')) {
      isInside = true
      if (file.lines.length) file.lines.push({ kind: 'place', text: '' })
    } else if (isInside) {
      if (text.startsWith('\\')) continue // there is no newline at its end
      const kind = KINDS[text[0] ?? ''] ?? 'same'
      file.lines.push({ kind, text: text.slice(1) })
      if (kind === 'new') file.fresh++
      else if (kind === 'gone') file.gone++
    } else if (/^(new|deleted) file mode/.test(text)) {
      file.state = text.startsWith('new') ? 'made' : 'removed'
    } else if (!ABOUT.test(text)) {
      file.lines.push({ kind: 'place', text })
    }
  }
  return files
}
