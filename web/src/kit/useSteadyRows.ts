/** Rows of a list that stand still while somebody is at them. */
import { computed, shallowRef, watch } from 'vue'

import { arrangeSteadyRows, type SteadyRows } from './steadyRows'
import type { Attention } from './useAttention'

/** Without a mouse nobody can tell where the finger is about to be. */
const hasNoHover = matchMedia('(hover: none)')

interface Source<T> {
  items: () => T[]
  keyOf: (item: T) => string
  attention: Attention
  /** What stays in any case, such as what is being looked at. */
  kept?: () => string | undefined
  /** Whether the list can be used at all: until then nothing is held. */
  isReady: () => boolean
}

export function useSteadyRows<T>({ items, keyOf, attention, kept, isReady }: Source<T>) {
  const held = shallowRef<SteadyRows<T>>({ rows: [], fresh: [] })
  const arrange = (holdsFresh: boolean, holdsOver: boolean) =>
    (held.value = arrangeSteadyRows(held.value.rows, items(), { keyOf, holdsFresh, holdsOver, kept: kept?.() }))
  watch(
    () => [items(), attention.isThere.value, isReady(), kept?.()] as const,
    ([, isThere, ready]) => {
      attention.look()
      arrange(ready && (isThere || hasNoHover.matches), isThere)
    },
    { immediate: true },
  )
  return {
    rows: computed(() => held.value.rows),
    fresh: computed(() => held.value.fresh),
    /** Show what is new, and everything in its order. */
    refresh: () => arrange(false, false),
  }
}
