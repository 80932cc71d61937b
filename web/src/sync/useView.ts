/** How components look at rows. */
import { computed, onScopeDispose, reactive, shallowRef, toValue, watch, type ComputedRef, type MaybeRefOrGetter } from 'vue'

import type { Tables } from '@/api/rows'
import { get, redirectToLogin } from '@/api/http'
import { build, outdated } from '@/api/build'
import { SyncClient } from './client'
import type { Table } from './frames'
import type { View } from './view'

export const sync = new SyncClient(`/sync${build && `?page=${build}`}`, redirectToLogin, () => void get('/api/me').catch(() => {}))
sync.listen('page.outdated', () => (outdated.value = true))

export interface Live {
  /** The rows of a table, as a map that is followed. */
  map<T extends Table>(table: T): Map<string, Tables[T]>
  /** The rows of a table as a list that is followed. */
  list<T extends Table>(table: T): ComputedRef<Tables[T][]>
  readonly ready: boolean
  readonly more: boolean
  readonly error: string | null
  /** The place in the log that its rows are of. */
  readonly seq: number
}

const NONE = new Map<string, never>()

/** A view for as long as the component lives. With a key that changes, it follows the key; no key, no rows. */
export function useView(name: string, key?: MaybeRefOrGetter<string | null | undefined>, limit?: number): Live {
  const held = shallowRef<View | null>(null)
  const keyed = key !== undefined
  watch(
    () => (keyed ? toValue(key) : undefined),
    (now) => {
      if (held.value) sync.release(held.value)
      held.value = keyed && !now ? null : sync.hold(name, now ?? undefined, limit)
    },
    { immediate: true },
  )
  onScopeDispose(() => held.value && sync.release(held.value))
  const map = <T extends Table>(table: T) => (held.value ? held.value.rows(table) : (NONE as Map<string, Tables[T]>))
  return reactive({
    map,
    list: <T extends Table>(table: T) => computed(() => [...map(table).values()]),
    ready: computed(() => held.value?.state.ready ?? false),
    more: computed(() => held.value?.state.more ?? false),
    error: computed(() => held.value?.state.error ?? null),
    seq: computed(() => held.value?.state.seq ?? 0),
  }) as Live
}

/** Hear signals for as long as the component lives. */
export function useSignal(kind: string, hear: (payload: Record<string, unknown>) => void): void {
  onScopeDispose(sync.listen(kind, hear))
}
