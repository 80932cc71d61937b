/** The item of a list that is open beside it. */
import { computed, type ComputedRef } from 'vue'
import { useRoute, useRouter, type RouteLocationRaw } from 'vue-router'

import { useKeys } from '@/browser/keys'
import { isPhone } from '@/browser/phone'
import { getNeighbour } from './neighbour'
import { useScrollIntoView } from './useScrollIntoView'

interface List {
  /** The items in their order. */
  ids: () => string[]
  /** Where an item is opened. */
  linkTo: (id: string) => RouteLocationRaw
  /** What the help says of the keys that open the next item and the one before it. */
  says: string
  /** The parameter of the path that names the open item. */
  param?: string
  /** What a wide screen opens when the path names nothing; the first item unless it says otherwise. */
  first?: () => string
}

/** `named` is the item that the path names, `shown` the one that the screen shows. */
export function useOpenItem(list: List): { named: ComputedRef<string>; shown: ComputedRef<string> } {
  const route = useRoute()
  const router = useRouter()
  const first = list.first ?? (() => list.ids()[0] ?? '')
  const named = computed(() => String(route.params[list.param ?? 'id'] ?? ''))
  const shown = computed(() => named.value || (isPhone.value ? '' : first()))
  function move(step: number): void {
    const next = getNeighbour(list.ids(), shown.value, step)
    if (next) void router.replace(list.linkTo(next))
  }
  useScrollIntoView(() => [shown.value, list.ids().length > 0])
  useKeys([
    { key: 'j', says: list.says, moves: true, run: () => move(1) },
    { key: 'k', says: list.says, moves: true, run: () => move(-1) },
  ])
  return { named, shown }
}
