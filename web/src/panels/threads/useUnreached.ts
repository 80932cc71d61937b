/** Whom the newest messages of people name and do not reach: the hub judges, and is asked again when somebody wakes or comes. */
import { onScopeDispose, shallowRef, watch, type Ref } from 'vue'

import { get } from '@/api/http'
import type { UnreachedRecipient, UnreachedMessage } from '@/api/types'

const REST_MS = 250

export function useUnreached(thread: Ref<string>, stands: () => string) {
  const byMessage = shallowRef(new Map<string, UnreachedRecipient[]>())
  let timer: ReturnType<typeof setTimeout> | undefined
  async function load(): Promise<void> {
    const here = thread.value
    const found = await get<UnreachedMessage[]>(`/api/threads/${here}/unreached`).catch(() => null)
    if (found && here === thread.value) byMessage.value = new Map(found.map((one) => [one.message_id, one.unreached]))
  }
  watch(thread, () => (byMessage.value = new Map()))
  watch(
    [thread, stands],
    () => {
      clearTimeout(timer)
      timer = setTimeout(load, REST_MS)
    },
    { immediate: true },
  )
  onScopeDispose(() => clearTimeout(timer))
  /** What the hub has answered to a message that was just posted. */
  const note = (message: string, unreached: UnreachedRecipient[]) => (byMessage.value = new Map(byMessage.value).set(message, unreached))
  return { byMessage, note }
}
