/** Who is writing in a thread right now. */
import { computed, shallowReactive, watch, type Ref } from 'vue'

import { useSignal } from '@/sync/useView'

/** Whoever goes silent without saying so has stopped. */
const SILENT_MS = 8_000

export function useTyping(thread: Ref<string>) {
  const timers = shallowReactive(new Map<string, ReturnType<typeof setTimeout>>())
  function stop(who: string): void {
    clearTimeout(timers.get(who))
    timers.delete(who)
  }
  useSignal('agent.typing', (payload) => {
    if (payload.thread_id !== thread.value) return
    const who = payload.agent_id as string
    stop(who)
    if (payload.is_typing !== false)
      timers.set(
        who,
        setTimeout(() => stop(who), SILENT_MS),
      )
  })
  watch(thread, () => [...timers.keys()].forEach(stop))
  return computed(() => new Set(timers.keys()))
}
