import { KeyboardIcon, UsersRound } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'
import { usePeople } from './room'

export default definePanel({
  name: 'people',
  icon: UsersRound,
  group: 'agents',
  order: 70,
  needs: 'answer',
  routes: [{ path: ':id?', component: () => import('./PeoplePanel.vue') }],
  commands: () => [{ id: 'device', title: t('people.device'), icon: KeyboardIcon, run: () => go('/people?do=type') }],
  badge: () => ({ count: usePeople().unread, urgent: true }),
})
