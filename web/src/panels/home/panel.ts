import { House } from '@lucide/vue'

import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'home',
  icon: House,
  group: 'work',
  order: 10,
  phone: true,
  routes: [{ path: '', component: () => import('./HomePanel.vue') }],
})
