/** What the hub says, in the page's language. The hub speaks English; each language has its sentences by the English ones,
 *  in which {0}, {1} stand for values. What is not known there (the words of agents, say) stays as it is. */
import { shallowRef } from 'vue'

interface Sentence {
  fits: RegExp
  says: string
  /** Which values are names and quotations, and are no words of the hub's. */
  quoted: boolean[]
  /** Whether nobody but the hub would say just this. */
  isSure: boolean
}

const LONGEST = 1_000
const KEPT = 500
const SURE_LETTERS = 13
const MOST_PIECES = 12
/** The name of a field, before what is wrong with it. */
const KEY = /^[\w.[\]-]+$/
/** A value in a sentence, with the Chinese characters that touch it. */
const VALUE = /(\p{Script=Han}?)\{(\d)\}(?=(\p{Script=Han}?))/gu
const MARKS: Record<string, string> = { '; ': '；', ': ': '：', '. ': '。' }

const sentences = shallowRef<Sentence[]>([])
const found = { told: new Map<string, string | null>(), heard: new Map<string, string | null>() }
type Ear = keyof typeof found

const plain = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const lettersOf = (said: string) => said.replace(/\{\d\}|[^A-Za-z]/g, '').length
const isSure = (said: string) =>
  said.includes('{0}') ? lettersOf(said) >= SURE_LETTERS || /^[^{]+['“]\{/.test(said) : said.includes(' ')

/** Take a language's sentences; the ones that say more come first, for they fit less. One of values alone would fit all. */
export function setSentences(known: Record<string, string>): void {
  found.told.clear()
  found.heard.clear()
  sentences.value = Object.entries(known)
    .filter(([said]) => lettersOf(said) > 0)
    .sort(([a], [b]) => lettersOf(b) - lettersOf(a))
    .map(([said, says]) => {
      const parts = said.split(/\{\d\}/)
      const quoted = parts.slice(1).map((after, at) => /['`“]$/.test(parts[at]!) && /^['`”]/.test(after))
      return { fits: new RegExp(`^${parts.map(plain).join('(.*?)')}$`, 's'), says, quoted, isSure: isSure(said) }
    })
}

const put = (text: string | null | undefined, ear: Ear): string =>
  text && sentences.value.length && text.length <= LONGEST ? (whole(text, ear) ?? text) : (text ?? '')

/** Words of the hub. */
export const translateHubText = (text: string | null | undefined): string => put(text, 'told')

/** Words that are the hub's or somebody else's: what an agent says stays as it was said. */
export const translateMixedText = (text: string | null | undefined): string => put(text, 'heard')

/** What is wrong with one field, where the hub names it first: "command: it is missing". */
export const findFieldProblems = (field: string, problems: string[]): string[] =>
  problems.filter((one) => one.startsWith(`${field}:`)).map((one) => translateHubText(one).slice(field.length + 1).trimStart())

/** A text as a sentence that is known, or as several with what is between them. */
function whole(text: string, ear: Ear): string | null {
  const before = found[ear].get(text)
  if (before !== undefined) return before
  const now = sentence(text, ear) ?? (text.endsWith('.') ? ended(sentence(text.slice(0, -1), ear)) : null) ?? listed(text, ear) ?? pieces(text, ear)
  if (found[ear].size > KEPT) found[ear].clear()
  found[ear].set(text, now)
  return now
}

const ended = (said: string | null) => said && `${said}。`

function sentence(text: string, ear: Ear): string | null {
  for (const { fits, says, quoted, isSure } of sentences.value) {
    const values = isSure || ear === 'told' ? fits.exec(text)?.slice(1) : undefined
    if (values) return says.replace(VALUE, (_, before, at, after) => spaced(before, quoted[+at] ? values[+at]! : put(values[+at], ear), after))
  }
  return null
}

/** A value between Chinese words: letters and digits stand apart from them. */
const spaced = (before: string, value: string, after: string): string =>
  `${before}${before && /^[A-Za-z0-9]/.test(value) ? ' ' : ''}${value}${after && /[A-Za-z0-9]$/.test(value) ? ' ' : ''}`

function listed(text: string, ear: Ear): string | null {
  const parts = text.split(/, | or | and /).map((one) => sentence(one, ear))
  return parts.length > 1 && parts.every(Boolean) ? parts.join('、') : null
}

function pieces(text: string, ear: Ear): string | null {
  for (const { index, 0: mark } of [...text.matchAll(/[;:.] /g)].slice(0, MOST_PIECES)) {
    const before = text.slice(0, index)
    const head = sentence(before, ear)
    if (head) return `${head}${MARKS[mark]}${put(text.slice(index + mark.length), ear)}`
    const rest = ear === 'told' && mark === ': ' && KEY.test(before) ? whole(text.slice(index + mark.length), ear) : null
    if (rest) return `${before}${MARKS[mark]}${rest}`
  }
  return null
}
