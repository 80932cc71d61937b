import { Wrench } from '@lucide/vue'

import { definePanel } from '@/shell/panel'
import { useView } from '@/sync/use'

export default definePanel({
  name: 'tools',
  icon: Wrench,
  group: 'system',
  order: 85,
  needs: 'operate',
  routes: [{ path: '', component: () => import('./ToolsPanel.vue') }],
  badge: () => {
    const held = [...useView('servers').map('server_tool').values()].filter((tool) => tool.state === 'held').length
    return { count: held, urgent: held > 0 }
  },
})
