import { Settings } from '@lucide/vue'

import { definePanel } from '@/kit/panel'

export default definePanel({
  name: 'settings',
  icon: Settings,
  group: 'system',
  order: 95,
  needs: 'enter',
  routes: [{ path: '', component: () => import('./SettingsPanel.vue') }],
})
