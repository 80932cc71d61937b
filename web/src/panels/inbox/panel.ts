import { Inbox } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { definePanel } from '@/kit/panel'
import { useAsks } from '@/stores/asks'
import { getKindIcon, buildTitle } from '@/kit/asks/askDisplay'

export default definePanel({
  name: 'inbox',
  icon: Inbox,
  group: 'work',
  order: 20,
  phone: true,
  needs: 'answer',
  routes: [{ path: ':id?', component: () => import('./InboxPanel.vue') }],
  badge: () => ({ count: useAsks().needing.length, urgent: true }),
  commands: () =>
    useAsks()
      .needing.slice(0, 40)
      .map((ask) => ({
        id: `ask ${ask.id}`,
        title: buildTitle(ask),
        hint: ask.asker.name,
        icon: getKindIcon(ask.kind),
        run: () => go(`/inbox/${ask.id}`),
      })),
})
