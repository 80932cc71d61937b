import { Workflow as TreeIcon } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'
import { describeRun, useRuns } from '@/stores/runs'

export default definePanel({
  name: 'runs',
  icon: TreeIcon,
  group: 'work',
  order: 40,
  phone: true,
  routes: [{ path: ':id?', component: () => import('./RunsPanel.vue') }],
  badge: () => ({ count: useRuns().live.length }),
  commands: () =>
    useRuns()
      .list.slice(0, 40)
      .map((run) => ({
        id: `run ${run.id}`,
        title: describeRun(run),
        hint: t('runs.one'),
        icon: TreeIcon,
        run: () => go(`/runs/${run.id}`),
      })),
})
