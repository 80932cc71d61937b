/** The threads, and how far they were read in this browser. */
import { defineStore } from 'pinia'
import { computed } from 'vue'

import type { Thread } from '@/api/rows'
import { storedRef } from '@/browser/storedRef'
import { useView } from '@/sync/useView'

export const useThreads = defineStore('threads', () => {
  const view = useView('threads')
  const seen = storedRef<Record<string, number>>('seen', {})
  const list = computed(() =>
    [...view.map('thread').values()].filter((thread) => !thread.mailbox_of).sort((a, b) => getLastActivity(b) - getLastActivity(a)),
  )
  const find = (id: string | null | undefined): Thread | undefined => (id ? view.map('thread').get(id) : undefined)
  const isUnread = (thread: Thread): boolean => (thread.current_seq ?? 0) > (seen.value[thread.id] ?? 0)
  const unread = computed(() => list.value.filter((one) => one.status !== 'archived' && isUnread(one)))
  function read(id: string, seq: number): void {
    if (seq > (seen.value[id] ?? 0)) seen.value = { ...seen.value, [id]: seq }
  }
  return { view, list, find, isUnread, unread, read }
})

export const getLastActivity = (thread: Thread): number => Math.max(thread.last_at ?? 0, thread.created_at)
