import { Plus, Wrench } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'
import { useView } from '@/sync/useView'

const tools = () => [...useView('servers').map('server_tool').values()]

export default definePanel({
  name: 'tools',
  icon: Wrench,
  group: 'system',
  order: 85,
  needs: 'operate',
  routes: [{ path: ':server?/:tool?', component: () => import('./ToolsPanel.vue') }],
  badge: () => {
    const held = tools().filter((tool) => (tool.state ?? 'held') === 'held').length
    return { count: held, urgent: held > 0 }
  },
  commands: () => [
    { id: 'server new', title: t('tools.add'), icon: Plus, run: () => go('/tools?do=new') },
    ...tools().map((tool) => ({
      id: `tool ${tool.server} ${tool.name}`,
      title: tool.name,
      hint: tool.server,
      icon: Wrench,
      run: () => go(`/tools/${encodeURIComponent(tool.server)}/${encodeURIComponent(tool.name)}`),
    })),
  ],
})
