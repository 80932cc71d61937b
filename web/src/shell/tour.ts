/** A walk through the page in six stops, with the rehearsal agent; it can be left at any of them. */
import { computed } from 'vue'

import { newKey, post } from '@/api/http'
import type { Run, Thread } from '@/api/rows'
import { go } from './go'
import { t } from './i18n'
import { kept } from './kept'
import { attempt } from './toasts'

interface Stop {
  name: string
  /** Where it is. */
  path: () => string
  /** What on the screen it is about. */
  about: string
  /** What is done there with one click; the tour goes on by itself. */
  act?: () => Promise<unknown>
}
interface Kept {
  /** The stop, or null when there is no tour. */
  at: number | null
  /** Whether it was offered, and taken or turned down. */
  over: boolean
  run: string
  thread: string
}

const state = kept<Kept>('tour', { at: null, over: false, run: '', thread: '' })
const set = (change: Partial<Kept>) => (state.value = { ...state.value, ...change })

async function startAgent(): Promise<unknown> {
  const lines = [`# ${t('tour.script.task')}`, `SAY ${t('tour.script.says')}`, 'SHELL echo hello > visited.txt && cat visited.txt', `ASK ${t('tour.script.asks')}`, 'USAGE 1200 90 0.01', `SAY ${t('tour.script.ends')}`]
  const run = await attempt(() => post<Run>('/api/runs', { profile: 'rehearsal', prompt: lines.join('\n') }, { key: newKey() }))
  if (run) set({ run: run.id })
  return run
}
async function startTalk(): Promise<unknown> {
  const thread = await attempt(async () => {
    const made = await post<Thread>('/api/threads', { topic: t('tour.script.topic') }, { key: newKey() })
    await post(`/api/threads/${made.id}/messages`, { content: t('tour.script.message') }, { key: newKey() })
    await post('/api/runs', { profile: 'rehearsal', prompt: `# ${t('tour.script.answering')}\nPOST ${made.id} ${t('tour.script.reply')}`, thread_id: made.id }, { key: newKey() })
    return made
  })
  if (thread) set({ thread: thread.id })
  return thread
}

export const STOPS: Stop[] = [
  { name: 'work', path: () => '/', about: 'dispatch', act: startAgent },
  { name: 'answer', path: () => '/inbox', about: 'answer' },
  { name: 'watch', path: () => (state.value.run ? `/runs/${state.value.run}` : '/runs'), about: 'run' },
  { name: 'talk', path: () => (state.value.thread ? `/threads/${state.value.thread}` : '/threads'), about: 'thread', act: startTalk },
  { name: 'plan', path: () => '/workflows/edit', about: 'graph' },
  { name: 'reach', path: () => '/', about: 'find' },
]

export const tourAt = computed(() => state.value.at)
export const isTourOver = computed(() => state.value.over)
export const tourRun = computed(() => state.value.run)

export function goTour(stop: number): void {
  if (stop >= STOPS.length) return endTour()
  set({ at: Math.max(0, stop) })
  go(STOPS[Math.max(0, stop)]!.path())
}
export const startTour = (): void => (set({ run: '', thread: '' }), goTour(0))
export const endTour = (): void => void set({ at: null, over: true })

/** Do what the stop offers, and show what came of it. */
export async function actTour(): Promise<void> {
  const at = state.value.at ?? 0
  const stop = STOPS[at]
  if (!stop?.act || !(await stop.act())) return
  if (stop.name === 'talk') go(stop.path())
  else goTour(at + 1)
}
