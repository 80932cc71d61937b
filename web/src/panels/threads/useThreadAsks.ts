/** The asks of one thread: those that wait and what becomes of them as it happens, and the newest that were answered before. */
import { computed, shallowRef, watch, type Ref } from 'vue'

import { get } from '@/api/http'
import type { Ask } from '@/api/rows'
import type { Asks } from '@/api/types'
import { may } from '@/stores/me'
import { showError } from '@/stores/toasts'
import { useAsks } from '@/stores/asks'

const NEWEST = { before: Number.MAX_SAFE_INTEGER, limit: 200 }

export function useThreadAsks(thread: Ref<string>) {
  const asks = useAsks()
  const answered = shallowRef<Ask[]>([])
  watch(
    thread,
    async (here) => {
      answered.value = []
      if (!may('answer')) return
      try {
        const found = await get<Asks>('/api/asks', { thread_id: here, state: 'answered', ...NEWEST })
        if (here === thread.value) answered.value = found.asks
      } catch (error) {
        showError(error)
      }
    },
    { immediate: true },
  )
  return computed(() => {
    const all = new Map(answered.value.map((ask) => [ask.id, ask]))
    for (const ask of asks.view.map('ask').values()) if (ask.thread_id === thread.value) all.set(ask.id, ask)
    return [...all.values()].filter((ask) => ask.state !== 'withdrawn')
  })
}
