/** The panels that this person may see, with their counts. */
import { computed, effectScope, type ComputedRef } from 'vue'

import { may } from '@/stores/me'
import type { Panel } from '@/kit/panel'
import { panels } from './panels'

export interface VisiblePanel extends Panel {
  path: string
  count: number
  urgent: boolean
}

let made: ComputedRef<VisiblePanel[]> | null = null
const scope = effectScope(true)

/** Begin to count. Called once, when it is known who looks. */
export function startCounting(): void {
  made ??= scope.run(() => {
    const badges = new Map(panels.map((panel) => [panel.name, panel.badge ? computed(panel.badge) : null]))
    return computed(() =>
      panels
        .filter((panel) => may(panel.needs ?? 'read'))
        .map((panel) => {
          const badge = badges.get(panel.name)?.value
          const path = panel.name === 'home' ? '/' : `/${panel.name}`
          return { ...panel, path, count: badge?.count ?? 0, urgent: badge?.urgent ?? false }
        }),
    )
  })!
}

export const visiblePanels = computed(() => made?.value ?? [])
