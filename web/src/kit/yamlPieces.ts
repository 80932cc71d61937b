/** The pieces of a line of YAML, each with the colour that it is shown in. */

export interface Piece {
  text: string
  kind: string
}
const KEY = /^(\s*(?:- +)*)([\w.$-]+|"[^"]*"|'[^']*')(:)(?=\s|$)/
const PIECES = new RegExp(
  [
    /(?<note>(?:^|(?<=\s))#.*$)/,
    /(?<quoted>"(?:\\.|[^"\\])*"|'[^']*')/,
    /(?<place>\{\{.*?\}\})/,
    /(?<value>(?<=[\s[,]|^)(?:true|false|null|-?\d+(?:\.\d+)?)(?=[\s\],]|$))/,
    /(?<sign>^\s*- |[[\]{},|>])/,
  ]
    .map((one) => one.source)
    .join('|'),
  'g',
)

export function splitYamlLine(line: string): Piece[] {
  const pieces: Piece[] = []
  const key = KEY.exec(line)
  if (key) pieces.push({ text: key[1]!, kind: 'sign' }, { text: key[2]!, kind: 'key' }, { text: ':', kind: 'sign' })
  const rest = line.slice(key?.[0].length ?? 0)
  let at = 0
  for (const found of rest.matchAll(PIECES)) {
    if (found.index > at) pieces.push({ text: rest.slice(at, found.index), kind: '' })
    pieces.push({ text: found[0], kind: Object.entries(found.groups ?? {}).find(([, one]) => one !== undefined)?.[0] ?? '' })
    at = found.index + found[0].length
  }
  if (at < rest.length) pieces.push({ text: rest.slice(at), kind: '' })
  return pieces
}
