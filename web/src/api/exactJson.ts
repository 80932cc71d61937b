/** JSON with whole numbers as they are written: JavaScript rounds those above 2**53, and a card must show what would run. */

export class ExactNumber {
  constructor(readonly digits: string) {}
  toString(): string {
    return this.digits
  }
  toJSON(): string {
    return this.digits
  }
}

const MANY_DIGITS = /\d{16}/
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const WHOLE = /^-?\d+$/
/** Nobody who writes a text knows this, so no text passes for a number. */
const MARK = `${Array.from(crypto.getRandomValues(new Uint32Array(4))).join('-')}:`
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

const isRounded = (token: string) => WHOLE.test(token) && !Number.isSafeInteger(Number(token))

export function parseExact(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text)
  let found = false
  const marked = text.replace(TOKEN, (token) => {
    if (token.startsWith('"') || !isRounded(token)) return token
    found = true
    return `"${MARK}${token}"`
  })
  if (!found) return JSON.parse(text)
  const revive = (_: string, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value
  return JSON.parse(marked, revive)
}

export function stringifyExact(value: unknown, indent?: number): string | undefined {
  function mark(this: Record<string, unknown>, key: string, plain: unknown): unknown {
    const own = this[key]
    return own instanceof ExactNumber ? MARK + own.digits : plain
  }
  return JSON.stringify(value, mark, indent)?.replace(MARKED, '$1')
}
