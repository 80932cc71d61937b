import { MessagesSquare, Plus, Search } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'
import { useThreads } from '@/stores/threads'

export default definePanel({
  name: 'threads',
  icon: MessagesSquare,
  group: 'work',
  order: 30,
  phone: true,
  routes: [{ path: ':id?', component: () => import('./ThreadsPanel.vue') }],
  badge: () => ({ count: useThreads().unread.length }),
  commands: () => [
    { id: 'thread new', title: t('threads.new'), icon: Plus, run: () => go('/threads?new=1') },
    { id: 'search', title: t('threads.search'), icon: Search, run: () => go('/threads?search=1') },
    ...useThreads()
      .list.slice(0, 80)
      .map((thread) => ({
        id: `thread ${thread.id}`,
        title: thread.topic,
        hint: t('threads.one'),
        icon: MessagesSquare,
        run: () => go(`/threads/${thread.id}`),
      })),
  ],
})
