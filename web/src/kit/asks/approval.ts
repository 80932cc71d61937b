/** What must come before an approval. Knows no DOM: whoever asks says how the person has pressed. */
import type { InjectionKey, Ref } from 'vue'

import type { Ask } from '@/api/rows'
import { getKindInfo } from './kindInfo'

/** By the mouse or a finger; by a key on a button; by a key of its own; from the palette; or held down for a second. */
export type PressMethod = 'pointer' | 'key' | 'shortcut' | 'palette' | 'held' | 'held by key'

/** Nothing; holding the button down; a step that names what is approved; or choosing, for the words may be a refusal. */
export type ApprovalStep = 'none' | 'hold' | 'name' | 'choose'

export function getRequiredStep(method: PressMethod, isHigh: boolean, hasWords: boolean): ApprovalStep {
  if (method === 'held') return 'none'
  if (method === 'held by key') return hasWords ? 'name' : 'none'
  if (method === 'pointer') return isHigh ? 'hold' : 'none'
  if (method === 'palette') return isHigh ? 'hold' : 'name'
  if (method === 'shortcut' && hasWords) return 'choose'
  return isHigh || hasWords ? 'name' : 'none'
}

const takesApproval = (ask: Ask): boolean => getKindInfo(ask.kind).verdicts.includes('approve')

/** What is answered and never approved, such as a question, is not held back by its risk. */
export const isHighRisk = (ask: Ask): boolean => ask.risk === 'high' && takesApproval(ask)

/** Whether one of the options must be chosen: a plain approval would choose one that nobody named. */
export const mustChoose = (ask: Ask): boolean => !!ask.questions?.some((one) => one.custom === false && !!one.options?.length)
export const mayApprove = (ask: Ask): boolean => takesApproval(ask) && !mustChoose(ask)
/** A call, a gate or a decision is answered by yes or no, unless it asks for more: words alone would pass for a yes. */
export function mayAnswer(ask: Ask): boolean {
  const { verdicts, in_words: inWords } = getKindInfo(ask.kind)
  return verdicts.includes('answer') && (!!inWords || !!ask.questions?.length || !!ask.form)
}

/** What is never approved among others: high risk; questions, which want an answer of their own; and what has files or a form
 *  to look at. */
export const isAnsweredAlone = (ask: Ask): boolean =>
  isHighRisk(ask) || !!ask.questions?.length || !takesApproval(ask) || !!ask.form || !!ask.contents?.some((one) => one.type !== 'text')

/** What a control that answers an ask is about: this very call, while it waits. */
export const buildGuardSubject = (ask: Ask): string => `${ask.id} ${ask.digest ?? ''} ${ask.state}`

/** Whether `y` and `n` answer the ask that is shown: not while others are selected, and nowhere but in the inbox. */
export const ANSWER_KEYS: InjectionKey<Ref<boolean>> = Symbol('answer keys')
