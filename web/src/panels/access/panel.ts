import { KeyRound, Smartphone } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'

export default definePanel({
  name: 'access',
  icon: KeyRound,
  group: 'system',
  order: 88,
  needs: 'operate',
  routes: [{ path: '', component: () => import('./AccessPanel.vue') }],
  commands: () => [
    { id: 'token new', title: t('access.new'), icon: KeyRound, run: () => go('/access?do=new') },
    { id: 'pair', title: t('access.pair'), icon: Smartphone, run: () => go('/access?do=pair') },
  ],
})
