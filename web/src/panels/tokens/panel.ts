import { KeyRound, Smartphone } from '@lucide/vue'

import { go } from '@/shell/go'
import { t } from '@/shell/i18n'
import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'tokens',
  icon: KeyRound,
  group: 'system',
  order: 88,
  needs: 'operate',
  routes: [{ path: '', component: () => import('./TokensPanel.vue') }],
  commands: () => [
    { id: 'token new', title: t('tokens.new'), icon: KeyRound, run: () => go('/tokens?do=new') },
    { id: 'pair', title: t('tokens.pair'), icon: Smartphone, run: () => go('/tokens?do=pair') },
  ],
})
