/** What the hub says, by the keys of its sentences; the catalogues are part of the Python package. */
import { shallowRef } from 'vue'

export interface Sentence {
  key: string
  params?: Record<string, Param | Param[]>
}
type Param = string | number | Sentence
/** A sentence of the hub's, or words that are somebody else's. */
export type Words = string | Sentence

/** A parameter's place, with the characters that touch it, and the full stop, which a question does not need. */
const PLACE = /(.?)\{(\w+)\}([.。]?)(?=(.?))/gu
const HAN = /\p{Script=Han}/u
/** What stands behind these is a name or a quotation, and no word of the hub's. */
const QUOTES = "「'`"

/** Parameters that are codes out of a closed set, as rows and refusals have them. */
const CODED = new Set(['status', 'state', 'verdict'])

interface Catalogue {
  words: Record<string, string>
  comma: string
  semicolon: string
  codes: Record<string, string>
}
const catalogue = shallowRef<Catalogue>({
  words: {},
  comma: ', ',
  semicolon: '; ',
  codes: {},
})

export function setCatalogue(words: Record<string, string>, comma: string, semicolon: string, codes: Record<string, string> = {}): void {
  catalogue.value = { words, comma, semicolon, codes }
}

/** The sentence in the page's language; `english` where the page does not know its key, as after an update of the hub. */
export function renderSentence(said: Sentence, english: string): string {
  const text = catalogue.value.words[said.key]
  return text === undefined ? english : fill(text, said.params ?? {})
}

/** Words of the hub in the page's language. */
export const renderWords = (words: Words | null | undefined): string =>
  typeof words === 'object' && words !== null ? renderSentence(words, words.key) : (words ?? '')

/** A field of an answer over REST: English there, with its sentence beside it if it is the hub's. */
export const renderField = <Name extends string>(
  answer: { sentences?: Record<string, Sentence> } & { [name in Name]?: string | null },
  name: Name,
): string => renderWords(answer.sentences?.[name] ?? answer[name])

/** What is wrong with one field, of problems that each name theirs. */
export const findFieldProblems = (field: string, problems: Sentence[]): string[] =>
  problems.filter((one) => one.params?.name === field).map((one) => renderWords(one.params?.problem as Words))

const fill = (text: string, params: Record<string, Param | Param[]>): string =>
  text.replace(PLACE, (_, before: string, name: string, stop: string, after: string) => {
    const param = params[name]
    const isQuoted = typeof param === 'string' && QUOTES.includes(before) && before !== ''
    const code = CODED.has(name) && typeof param === 'string' ? catalogue.value.codes[param] : undefined
    const value = isQuoted ? param : (code ?? renderParam(param))
    return before + space(before, value, stop || after) + (/[?？]$/.test(value) ? '' : stop)
  })

function renderParam(param: Param | Param[] | undefined): string {
  if (Array.isArray(param)) {
    const joint = param.some((one) => typeof one === 'object') ? catalogue.value.semicolon : catalogue.value.comma
    return param.map(renderParam).join(joint)
  }
  return typeof param === 'object' ? renderSentence(param, param.key) : String(param ?? '')
}

/** Latin letters and digits stand apart from Chinese characters. */
const space = (before: string, value: string, after: string): string =>
  `${HAN.test(before) && /^[A-Za-z0-9]/.test(value) ? ' ' : ''}${value}${HAN.test(after) && /[A-Za-z0-9]$/.test(value) ? ' ' : ''}`
