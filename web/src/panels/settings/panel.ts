import { Settings } from '@lucide/vue'

import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'settings',
  icon: Settings,
  group: 'system',
  order: 95,
  needs: 'enter',
  routes: [{ path: '', component: () => import('./SettingsPanel.vue') }],
})
