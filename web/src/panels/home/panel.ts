import { House, Play } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { may } from '@/stores/me'
import { definePanel } from '@/kit/panel'

export default definePanel({
  name: 'home',
  icon: House,
  group: 'work',
  order: 10,
  phone: true,
  routes: [{ path: '', component: () => import('./HomePanel.vue') }],
  commands: () => (may('chat') ? [{ id: 'dispatch', title: t('home.dispatch'), icon: Play, run: () => go('/?do=dispatch') }] : []),
})
