/** The lines that differ between two texts. */
export interface DiffLine {
  kind: 'same' | 'gone' | 'new'
  text: string
}

const MOST = 1500

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before ? before.split('\n') : []
  const b = after ? after.split('\n') : []
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }))
  const middle = between(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))]
}

/** By the longest common row of lines; where that would take too long, all gone and all new. */
function between(a: string[], b: string[]): DiffLine[] {
  const gone = a.map((text): DiffLine => ({ kind: 'gone', text }))
  const fresh = b.map((text): DiffLine => ({ kind: 'new', text }))
  if (!a.length || !b.length || a.length > MOST || b.length > MOST) return [...gone, ...fresh]
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j] ? table[(i + 1) * width + j + 1]! + 1 : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!)
  const out: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) out.push({ kind: 'same', text: a[(i++, j++, i - 1)]! })
    else if (i < a.length && (j === b.length || table[(i + 1) * width + j]! >= table[i * width + j + 1]!)) out.push(gone[i++]!)
    else out.push(fresh[j++]!)
  }
  return out
}

/** How many lines would go, and how many come. */
export function countChanges(lines: DiffLine[]): { gone: number; fresh: number } {
  const count = (kind: DiffLine['kind']) => lines.filter((one) => one.kind === kind).length
  return { gone: count('gone'), fresh: count('new') }
}

/** Only what differs, with a few lines around it; null stands for lines that were left out. */
export function foldUnchanged(lines: DiffLine[], around = 3): (DiffLine | null)[] {
  const keep = new Set<number>()
  lines.forEach((line, at) => {
    if (line.kind !== 'same') for (let near = at - around; near <= at + around; near++) keep.add(near)
  })
  const out: (DiffLine | null)[] = []
  lines.forEach((line, at) => {
    if (keep.has(at)) out.push(line)
    else if (out.length === 0 || out.at(-1) !== null) out.push(null)
  })
  return out
}
