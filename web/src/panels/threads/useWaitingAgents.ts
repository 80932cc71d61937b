/** Which agents wait in which thread for somebody to write. They are calls that are open just now, no rows: the hub is asked. */
import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'

import { get } from '@/api/http'
import type { ThreadPage, RestWaiter } from '@/api/types'

const EVERY_MS = 5_000
const MOST = 100

export function useWaitingAgents(): ShallowRef<Map<string, RestWaiter[]>> {
  const found = shallowRef(new Map<string, RestWaiter[]>())
  async function look(): Promise<void> {
    if (document.hidden) return
    const page = await get<ThreadPage>('/api/threads', { limit: MOST }).catch(() => null)
    if (page) found.value = new Map(page.threads.filter((one) => one.waiting_agents.length).map((one) => [one.id, one.waiting_agents]))
  }
  void look()
  const timer = setInterval(look, EVERY_MS)
  onScopeDispose(() => clearInterval(timer))
  return found
}
