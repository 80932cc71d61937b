import { Plus, Server } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { may } from '@/stores/me'
import { definePanel } from '@/kit/panel'

export default definePanel({
  name: 'nodes',
  icon: Server,
  group: 'agents',
  order: 75,
  routes: [{ path: ':id?', component: () => import('./NodesPanel.vue') }],
  commands: () => (may('operate') ? [{ id: 'node new', title: t('nodes.join'), icon: Plus, run: () => go('/nodes?do=join') }] : []),
})
