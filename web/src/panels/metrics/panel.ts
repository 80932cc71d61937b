import { ChartNoAxesColumn } from '@lucide/vue'

import { definePanel } from '@/shell/panel'

export default definePanel({
  name: 'metrics',
  icon: ChartNoAxesColumn,
  group: 'system',
  order: 92,
  routes: [{ path: '', component: () => import('./MetricsPanel.vue') }],
})
