/** Answers on their way to the hub. The first answer wins; who was second is told who was first. */
import { ref } from 'vue'

import { ApiError, post } from '@/api/http'
import { snoozeAsk } from '@/api/verbs'
import type { Ask } from '@/api/rows'
import type { RuleChoice } from '@/api/types'
import { t } from '@/browser/i18n'
import { nickname } from '@/stores/me'
import { showError, showToast } from '@/stores/toasts'
import { renderSentence, type Sentence } from '@/browser/sentences'
import { useAsks } from '@/stores/asks'
import { isAnsweredAlone } from './approval'

export interface AnswerInput {
  verdict: 'approve' | 'deny' | 'answer'
  text?: string
  options?: string[][]
  arguments?: Record<string, unknown>
  contents?: { type: string; text?: string; data?: string; mime?: string; name?: string }[]
  form?: unknown
  scope?: 'once' | 'call' | 'run' | 'profile' | 'rule'
  /** How far the rule reaches, where the scope is one. */
  remember?: RuleChoice
}

interface Result extends Partial<Sentence> {
  ask_id: string
  ok: boolean
  message?: string
}

const TOO_LATE = new Set(['already_answered', 'ask_expired', 'ask_withdrawn'])

/** What goes with every answer: what exactly it is about, and who gives it. */
const more = (ask: Ask) => ({ ...(ask.digest ? { digest: ask.digest } : {}), ...(nickname.value ? { name: nickname.value } : {}) })

/** What to call what was done: an approval of other arguments, and one that made a rule, have words of their own. */
function doneBy(given: AnswerInput): string {
  if (given.verdict === 'approve' && given.arguments) return 'edited'
  return given.scope === 'rule' && given.verdict !== 'answer' ? `${given.verdict}Rule` : given.verdict
}

/** One ask and its answer from here: once that is given, or came too late, nothing else can be. */
export function useAnswer() {
  const isBusy = ref(false)
  /** Who was quicker, or why else it is over. */
  const tooLate = ref('')

  async function give(ask: Ask, given: AnswerInput): Promise<boolean> {
    if (isBusy.value) return false
    isBusy.value = true
    const asks = useAsks()
    asks.mine.add(ask.id)
    try {
      const now = await post<Ask>(`/api/asks/${ask.id}/answer`, { ...given, ...more(ask) })
      showToast(t(`inbox.did.${doneBy(given)}`, { title: ask.title }))
      // Where several must agree it stays open, and a vote may be changed; else its row is about to say that it is over.
      isBusy.value = now.state !== 'open'
      return true
    } catch (error) {
      asks.mine.delete(ask.id)
      if (error instanceof ApiError && TOO_LATE.has(error.code)) tooLate.value = t('inbox.tooLate', { why: error.message })
      isBusy.value = tooLate.value !== ''
      showError(tooLate.value ? new ApiError(409, 'too_late', tooLate.value) : error)
      return false
    }
  }
  return { isBusy, tooLate, give }
}

/** Answer many at once; true if any answer was taken. What is of high risk is approved one by one only: it is left, and that
 *  is said. */
export async function answerAll(list: Ask[], given: AnswerInput): Promise<boolean> {
  const left = given.verdict === 'approve' ? list.filter(isAnsweredAlone) : []
  const chosen = list.filter((ask) => !left.includes(ask))
  if (left.length) showToast(t('inbox.leftAlone', { count: left.length }))
  if (!chosen.length) return false
  const asks = useAsks()
  for (const ask of chosen) asks.mine.add(ask.id)
  const answers = chosen.map((ask) => ({ ask_id: ask.id, ...given, ...more(ask) }))
  try {
    const { results } = await post<{ results: Result[] }>('/api/asks/answers', { answers })
    const missed = results.filter((one) => !one.ok)
    const done = results.length - missed.length
    if (done) showToast(t('inbox.didMany', { count: done }))
    for (const one of missed.slice(0, 3))
      showError(
        new ApiError(409, 'missed', (one.key && renderSentence({ key: one.key, params: one.params }, one.message ?? '')) || one.ask_id),
      )
    return done > 0
  } catch (error) {
    for (const ask of chosen) asks.mine.delete(ask.id)
    showError(error)
    return false
  }
}

export async function snooze(list: Ask[], minutes: number): Promise<void> {
  try {
    await Promise.all(list.map((ask) => snoozeAsk(ask.id, { for_s: minutes * 60 })))
    showToast(t('inbox.snoozed', { count: list.length, minutes }), () => unsnooze(list))
  } catch (error) {
    showError(error)
  }
}

export async function unsnooze(list: Ask[]): Promise<void> {
  try {
    await Promise.all(list.map((ask) => snoozeAsk(ask.id, { until: 0 })))
  } catch (error) {
    showError(error)
  }
}
