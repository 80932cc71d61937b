/** What is written in a thread and not sent yet. It stays in this browser, for each thread by itself. */
import { ref, watch } from 'vue'

import { storedRef } from '@/browser/storedRef'

const MOST_KEPT = 20_000

export function useDraft(thread: () => string) {
  const drafts = storedRef<Record<string, string>>('drafts', {})
  const text = ref('')
  function keepFor(id: string, now: string): void {
    const { [id]: before, ...others } = drafts.value
    if (now !== (before ?? '')) drafts.value = now && now.length <= MOST_KEPT ? { ...others, [id]: now } : others
  }
  watch(thread, (id) => (text.value = drafts.value[id] ?? ''), { immediate: true })
  watch(text, (now) => keepFor(thread(), now))
  return { text, keepFor }
}
