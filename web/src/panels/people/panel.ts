import { UsersRound } from '@lucide/vue'

import { definePanel } from '@/shell/panel'
import { usePeople } from './room'

export default definePanel({
  name: 'people',
  icon: UsersRound,
  group: 'agents',
  order: 70,
  needs: 'answer',
  routes: [{ path: '', component: () => import('./PeoplePanel.vue') }],
  badge: () => ({ count: usePeople().unread, urgent: true }),
})
