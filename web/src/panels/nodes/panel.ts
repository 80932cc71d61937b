import { Server } from '@lucide/vue'

import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'nodes',
  icon: Server,
  group: 'agents',
  order: 75,
  routes: [{ path: ':id?', component: () => import('./NodesPanel.vue') }],
})
