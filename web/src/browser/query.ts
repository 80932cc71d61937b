/** What stands in the address besides the path, so that a link leads back to the very same view. */
import { ref, watch, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'

let pending: Record<string, string | undefined> | null = null
/** Where the page is on its way to; what is left behind may not call it back. */
let target: string | null = null
let isWatched = false

/** A word that is in the address as `?name=…` unless it is the usual one. */
export function useQueryParam(name: string): Ref<string>
export function useQueryParam<T extends string>(name: string, usual: T, of: readonly T[]): Ref<T>
export function useQueryParam<T extends string>(name: string, usual = '' as T, of?: readonly T[]): Ref<T> {
  const route = useRoute()
  const router = useRouter()
  if (!isWatched) {
    isWatched = true
    router.beforeEach((to) => void (target = to.path))
    router.afterEach(() => (target = null))
  }
  const read = (): T => {
    const found = String(route.query[name] ?? usual) as T
    return of && !of.includes(found) ? usual : found
  }
  const held = ref(read()) as Ref<T>
  watch(
    () => route.query[name],
    () => (held.value = read()),
  )
  watch(held, (now) => {
    if (now === read()) return
    const isFirst = !pending
    const path = route.path
    pending = { ...pending, [name]: now === usual ? undefined : now }
    if (isFirst)
      setTimeout(() => {
        const query = { ...route.query, ...pending }
        pending = null
        if (route.path === path && (target === null || target === path)) void router.replace({ query })
      })
  })
  return held
}
