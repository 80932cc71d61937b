/** Who the agents are, and who of them is there. */
import { defineStore } from 'pinia'
import { computed, shallowReactive } from 'vue'

import type { Agent } from '@/api/rows'
import { sync, useView } from '@/sync/useView'

export const useAgents = defineStore('agents', () => {
  const view = useView('agents')
  const online = shallowReactive(new Set<string>())
  sync.listen('agents.online', (payload) => {
    online.clear()
    for (const id of payload.agent_ids as string[]) online.add(id)
  })
  sync.listen('agent.online', (payload) => online.add(payload.agent_id as string))
  sync.listen('agent.offline', (payload) => online.delete(payload.agent_id as string))

  const list = computed(() => [...view.map('agent').values()])
  const find = (id: string | null | undefined): Agent | undefined => (id ? view.map('agent').get(id) : undefined)
  const nameOf = (id: string | null | undefined, otherwise = ''): string => {
    const agent = find(id)
    return agent ? agent.display_name || agent.name : otherwise
  }
  /** How an agent stands, in one of the words of StatusMark. */
  const getStatus = (agent: Agent): string => agent.process || (online.has(agent.id) ? 'online' : 'offline')
  return { view, online, list, find, nameOf, getStatus }
})
