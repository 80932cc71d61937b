import { ShieldCheck } from '@lucide/vue'

import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'policies',
  icon: ShieldCheck,
  group: 'system',
  order: 80,
  needs: 'operate',
  routes: [{ path: ':rule?', component: () => import('./PoliciesPanel.vue') }],
})
