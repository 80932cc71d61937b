import { Bot } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'
import { useAgents } from '@/stores/agents'

export default definePanel({
  name: 'agents',
  icon: Bot,
  group: 'agents',
  order: 60,
  routes: [{ path: ':id?', component: () => import('./AgentsPanel.vue') }],
  badge: () => ({ count: useAgents().list.filter((one) => ['busy', 'starting'].includes(one.process ?? '')).length }),
  commands: () =>
    useAgents()
      .list.slice(-60)
      .map((one) => ({
        id: `agent ${one.id}`,
        title: one.display_name || one.name,
        hint: t('agents.one'),
        icon: Bot,
        run: () => go(`/agents/${one.id}`),
      })),
})
