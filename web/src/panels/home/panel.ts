import { House, Play } from '@lucide/vue'

import { go } from '@/shell/navigation'
import { t } from '@/shell/i18n'
import { may } from '@/shell/me'
import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'home',
  icon: House,
  group: 'work',
  order: 10,
  phone: true,
  routes: [{ path: '', component: () => import('./HomePanel.vue') }],
  commands: () => (may('chat') ? [{ id: 'dispatch', title: t('home.dispatch'), icon: Play, run: () => go('/?do=dispatch') }] : []),
})
