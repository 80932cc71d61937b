/** The messages of one thread: the newest as they come, older ones when one scrolls up to them. */
import { computed, ref, shallowRef, watch, type Ref } from 'vue'

import { get } from '@/api/http'
import type { Message } from '@/api/rows'
import type { RestMessage as Shown } from '@/api/types'
import { showError } from '@/stores/toasts'
import type { Live } from '@/sync/useView'
import { buildMessageRow } from './entries'

const PAGE = 1000
/** Who reads the newest holds so many at most; what was let go is read again when one scrolls up. */
const MOST = 6000
const KEPT = 2000

export function useMessages(thread: Ref<string>, live: Live, atEnd: Ref<boolean>) {
  const older = shallowRef<Message[]>([])
  const isLoading = ref(false)
  const isAll = ref(false)

  const isTrimmed = ref(false)
  watch(thread, () => {
    older.value = []
    isAll.value = isTrimmed.value = false
  })

  const newest = computed(() =>
    [...live.map('message').values()].filter((one) => one.thread_id === thread.value).sort((a, b) => a.seq - b.seq),
  )
  const list = computed(() => {
    const held = newest.value
    const first = held[0]?.seq ?? Infinity
    if (!older.value.length) return held
    // What was read before may have come into the live rows by an edit: there it is newer.
    const edited = new Map(held.filter((one) => one.seq <= (older.value.at(-1)?.seq ?? 0)).map((one) => [one.id, one]))
    if (!edited.size) return [...older.value.filter((one) => one.seq < first), ...held]
    const replaced = older.value.map((one) => edited.get(one.id) ?? one)
    const known = new Set(replaced.map((one) => one.id))
    return [...replaced, ...held.filter((one) => !known.has(one.id))]
  })
  const hasOlder = computed(() => !isAll.value && (live.more || isTrimmed.value || older.value.length > 0))
  watch([() => list.value.length > MOST, atEnd], ([isLong, end]) => {
    if (!isLong || !end) return
    older.value = []
    isAll.value = false
    isTrimmed.value = true
    const rows = live.map('message')
    for (const one of newest.value.slice(0, -KEPT)) rows.delete(one.id)
  })

  async function loadOlder(limit = PAGE): Promise<boolean> {
    const first = list.value[0]
    if (!first || isLoading.value || !hasOlder.value) return false
    isLoading.value = true
    const here = thread.value
    try {
      const page = await get<Shown[]>(`/api/threads/${here}/messages`, { before_seq: first.seq, limit })
      if (here !== thread.value) return false
      if (!page.length) isAll.value = true
      else
        older.value = [
          ...page.map((one) => buildMessageRow(here, one)),
          ...(older.value.length ? list.value.filter((one) => one.seq >= first.seq) : newest.value),
        ]
      return page.length > 0
    } catch (error) {
      showError(error)
      return false
    } finally {
      isLoading.value = false
    }
  }
  /** Load back until the message is there. */
  async function reach(id: string, seq: number): Promise<boolean> {
    while (!list.value.some((one) => one.id === id) && (list.value[0]?.seq ?? 0) > seq) if (!(await loadOlder(1000))) break
    return list.value.some((one) => one.id === id)
  }
  return { list, hasOlder, isLoading, loadOlder, reach }
}
