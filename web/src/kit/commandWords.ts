/** A command taken apart into its words, to be read and not to be run. */
export interface CommandWord {
  text: string
  kind: 'program' | 'flag' | 'quoted' | 'variable' | 'operator' | 'word'
}

const OPERATOR = /^(\|\||&&|;;|>>|<<|\|&|[|&;<>()])/
const FIRST_AFTER = new Set(['|', '||', '&&', ';', '&', '(', '|&'])

export function splitCommand(command: string): CommandWord[] {
  const words: CommandWord[] = []
  let rest = command
  let first = true
  while (rest.length && words.length < 400) {
    const gap = /^[ \t\n]+/.exec(rest)
    if (gap) {
      rest = rest.slice(gap[0].length)
      if (gap[0].includes('\n')) {
        words.push({ text: '⏎', kind: 'operator' })
        first = true
      }
      continue
    }
    const operator = OPERATOR.exec(rest)
    if (operator) {
      words.push({ text: operator[0], kind: 'operator' })
      rest = rest.slice(operator[0].length)
      first = FIRST_AFTER.has(operator[0])
      continue
    }
    const found = /^(?:'[^']*'?|"(?:\\.|[^"\\])*"?|\$\((?:[^()]|\([^()]*\))*\)?|`[^`]*`?|\\.|[^ \t\n'"\\|&;<>()`])+/s.exec(rest)
    const text = found?.[0] || rest[0]!
    rest = rest.slice(text.length)
    const assigns = first && /^\w+=/.test(text)
    words.push({ text, kind: kindOf(text, first && !assigns) })
    first = assigns
  }
  if (rest.length) words.push({ text: rest, kind: 'word' })
  return words
}

function kindOf(text: string, first: boolean): CommandWord['kind'] {
  if (first) return 'program'
  if (/^--?[A-Za-z]/.test(text)) return 'flag'
  if (/^['"]/.test(text)) return 'quoted'
  return /\$|`/.test(text) ? 'variable' : 'word'
}
