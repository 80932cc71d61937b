import { ScrollText } from '@lucide/vue'

import { definePanel } from '@/kit/panel'

export default definePanel({
  name: 'audit',
  icon: ScrollText,
  group: 'system',
  order: 90,
  needs: 'operate',
  routes: [{ path: '', component: () => import('./AuditPanel.vue') }],
})
