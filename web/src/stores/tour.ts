/** A walk through the page in six stops, with an agent that follows a script; it can be left at any of them. */
import { computed } from 'vue'

import { newKey, post } from '@/api/http'
import type { Run, Thread } from '@/api/rows'
import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { storedRef } from '@/browser/storedRef'
import { useProfiles, type Practice } from './profiles'
import { fillPrompt } from './samplePrompts'
import { attempt } from './toasts'

interface Stop {
  name: string
  /** Where it is. */
  path: () => string
  /** What on the screen it is about. */
  about: string
  /** What is done there with one click, once in a tour. */
  act?: (practice: Practice) => Promise<unknown>
}
interface Kept {
  /** The tour's own id: whatever it starts is started once, however often it is asked for. */
  id: string
  /** The stop, or null when there is no tour. */
  at: number | null
  /** Whether it was offered, and taken or turned down. */
  over: boolean
  run: string
  thread: string
  /** The stops whose action was done. */
  did: string[]
}

const state = storedRef<Partial<Kept>>('tour', {})
const of = (what: string): { key: string } => ({ key: `tour-${state.value.id}-${what}` })
const set = (change: Partial<Kept>) => (state.value = { ...state.value, ...change })

async function startAgent({ name, samples }: Practice): Promise<unknown> {
  const prompt = fillPrompt(samples.task, {
    title: t('tour.script.task'),
    hello: t('tour.script.says'),
    question: t('tour.script.asks'),
    end: t('tour.script.ends'),
  })
  const run = await attempt(() => post<Run>('/api/runs', { profile: name, prompt }, of('run')))
  if (run) set({ run: run.id })
  return run
}
async function startTalk({ name, samples }: Practice): Promise<unknown> {
  const thread = await attempt(async () => {
    const made = await post<Thread>('/api/threads', { topic: t('tour.script.topic') }, of('thread'))
    await post(`/api/threads/${made.id}/messages`, { content: t('tour.script.message') }, of('message'))
    const prompt = fillPrompt(samples.reply, { title: t('tour.script.answering'), thread_id: made.id, text: t('tour.script.reply') })
    await post('/api/runs', { profile: name, prompt, thread_id: made.id }, of('reply'))
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

export const tourAt = computed(() => state.value.at ?? null)
export const isTourOver = computed(() => state.value.over ?? false)
export const tourRun = computed(() => state.value.run ?? '')
/** Whether a stop has something to do that was not done in this tour, and an agent to do it with. */
export const hasPendingAction = (stop: Stop): boolean => !!stop.act && !!useProfiles().practice && !state.value.did?.includes(stop.name)

export function goToStop(stop: number): void {
  if (stop >= STOPS.length) return endTour()
  set({ at: Math.max(0, stop) })
  go(STOPS[Math.max(0, stop)]!.path())
}
export const startTour = (): void => (set({ id: newKey(), run: '', thread: '', did: [] }), goToStop(0))
export const endTour = (): void => void set({ at: null, over: true })

/** Do what the stop offers, and show what came of it; from then on the stop only leads to the next one. */
export async function runStopAction(): Promise<void> {
  const at = state.value.at ?? 0
  const stop = STOPS[at]
  const { practice } = useProfiles()
  if (!practice || !stop?.act || !hasPendingAction(stop) || !(await stop.act(practice))) return
  set({ did: [...(state.value.did ?? []), stop.name] })
  if (stop.name === 'talk') go(stop.path())
  else goToStop(at + 1)
}
