import { Plus, ShieldCheck } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'

export default definePanel({
  name: 'policies',
  icon: ShieldCheck,
  group: 'system',
  order: 80,
  needs: 'operate',
  routes: [{ path: ':rule?', component: () => import('./PoliciesPanel.vue') }],
  commands: () => [{ id: 'rule new', title: t('policies.new'), icon: Plus, run: () => go('/policies?do=new') }],
})
