/** In what the kinds of asks differ, as the hub has it in its table. */
import { ASK_KINDS, type Ask, type AskKindInfo } from '@/api/rows'
import { language } from '@/browser/i18n'

export type AskKind = Ask['kind']
export const KINDS = Object.keys(ASK_KINDS) as AskKind[]

/** A page that is older than its hub takes a kind that it does not know for a question. */
export const getKindInfo = (kind: AskKind): AskKindInfo => ASK_KINDS[kind] ?? ASK_KINDS.question

export function nameKind(kind: AskKind, form: 'one' | 'many'): string {
  const { names } = getKindInfo(kind)
  return (names[language.value] ?? names.en!)[form]
}
