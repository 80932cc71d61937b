import { ScrollText } from '@lucide/vue'

import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'audit',
  icon: ScrollText,
  group: 'system',
  order: 90,
  needs: 'operate',
  routes: [{ path: '', component: () => import('./AuditPanel.vue') }],
})
