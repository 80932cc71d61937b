/** Asks in a list that stands still while somebody is at it: what is over stays in its place, what is new waits to be shown. */
import { computed } from 'vue'

import type { Ask } from '@/api/rows'
import { useAttention } from '@/kit/useAttention'
import { useSteadyRows } from '@/kit/useSteadyRows'
import { useAsks } from '@/stores/asks'

export interface AskInList {
  ask: Ask
  /** Whether it is here only because it was: it was answered, snoozed, or is gone. */
  isOver: boolean
}

export function useAskRows(items: () => Ask[], kept?: () => string | undefined) {
  const asks = useAsks()
  const attention = useAttention()
  const { rows, fresh, refresh } = useSteadyRows({ items, keyOf: (ask) => ask.id, attention, kept, isReady: () => asks.view.ready })
  const shown = computed<AskInList[]>(() => {
    const here = new Set(items().map((ask) => ask.id))
    // What the hub does not speak of any more is over, whatever it was when it was last heard of.
    return rows.value.map((ask) => ({ ask: asks.find(ask.id) ?? { ...ask, state: 'closed' as Ask['state'] }, isOver: !here.has(ask.id) }))
  })
  return { rows: shown, fresh, refresh, attention }
}
