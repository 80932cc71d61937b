import { GitBranch, Play, Plus } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'
import { useFlows } from '@/stores/flows'

export default definePanel({
  name: 'workflows',
  icon: GitBranch,
  group: 'work',
  order: 50,
  routes: [
    { path: '', component: () => import('./WorkflowsPanel.vue') },
    { path: 'runs/:id', component: () => import('./FlowRun.vue') },
    { path: 'edit/:name?', component: () => import('./FlowEditor.vue') },
  ],
  badge: () => ({ count: useFlows().live.length }),
  commands: () => [
    { id: 'workflow new', title: t('workflows.new'), icon: Plus, run: () => go('/workflows/edit') },
    ...useFlows().list.map((flow) => ({
      id: `start ${flow.name}`,
      title: t('workflows.startOf', { name: flow.name }),
      hint: t('workflows.one'),
      icon: Play,
      run: () => go(`/workflows?start=${encodeURIComponent(flow.name)}`),
    })),
    ...useFlows().list.map((flow) => ({
      id: `workflow ${flow.name}`,
      title: flow.name,
      hint: t('workflows.one'),
      icon: GitBranch,
      run: () => go(`/workflows/edit/${encodeURIComponent(flow.name)}`),
    })),
  ],
})
