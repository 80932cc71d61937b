import { ChartNoAxesColumn } from '@lucide/vue'

import { definePanel } from '@/kit/panel'

export default definePanel({
  name: 'metrics',
  icon: ChartNoAxesColumn,
  group: 'system',
  order: 92,
  routes: [{ path: '', component: () => import('./MetricsPanel.vue') }],
})
