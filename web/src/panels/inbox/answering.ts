/** Answers on their way to the hub. The first answer wins; who was second is told who was first. */
import { ApiError, post } from '@/api/http'
import type { Ask } from '@/api/rows'
import { t } from '@/shell/i18n'
import { nickname } from '@/shell/me'
import { fail, say } from '@/shell/toasts'
import { told } from '@/shell/told'
import { useAsks } from '@/stores/asks'

export interface Given {
  verdict: 'approve' | 'deny' | 'answer'
  text?: string
  options?: string[][]
  arguments?: Record<string, unknown>
  contents?: { type: string; text?: string; data?: string; mime?: string; name?: string }[]
  form?: unknown
  scope?: 'once' | 'run' | 'profile' | 'rule'
}

interface Result {
  ask_id: string
  ok: boolean
  message?: string
}

/** What goes with every answer: what exactly it is about, and who gives it. */
const more = (ask: Ask) => ({ ...(ask.digest ? { digest: ask.digest } : {}), ...(nickname.value ? { name: nickname.value } : {}) })

export async function answer(ask: Ask, given: Given): Promise<boolean> {
  const asks = useAsks()
  asks.mine.add(ask.id)
  try {
    await post(`/api/asks/${ask.id}/answer`, { ...given, ...more(ask) })
    say(t(`inbox.did.${given.verdict}`, { title: ask.title }))
    return true
  } catch (error) {
    asks.mine.delete(ask.id)
    fail(error instanceof ApiError && error.code === 'already_answered' ? new ApiError(409, error.code, error.message) : error)
    return false
  }
}

export async function answerAll(list: Ask[], given: Given): Promise<void> {
  const asks = useAsks()
  for (const ask of list) asks.mine.add(ask.id)
  const answers = list.map((ask) => ({ ask_id: ask.id, ...given, ...more(ask) }))
  try {
    const { results } = await post<{ results: Result[] }>('/api/asks/answers', { answers })
    const missed = results.filter((one) => !one.ok)
    const done = results.length - missed.length
    if (done) say(t('inbox.didMany', { count: done }))
    for (const one of missed.slice(0, 3)) fail(new Error(told(one.message) || one.ask_id))
  } catch (error) {
    for (const ask of list) asks.mine.delete(ask.id)
    fail(error)
  }
}

export async function snooze(list: Ask[], minutes: number): Promise<void> {
  try {
    await Promise.all(list.map((ask) => post(`/api/asks/${ask.id}/snooze`, { for_s: minutes * 60 })))
    say(t('inbox.snoozed', { count: list.length, minutes }), () => wake(list))
  } catch (error) {
    fail(error)
  }
}

export async function wake(list: Ask[]): Promise<void> {
  try {
    await Promise.all(list.map((ask) => post(`/api/asks/${ask.id}/snooze`, { until: 0 })))
  } catch (error) {
    fail(error)
  }
}
