/** The addresses by which other devices reach this hub. */
import { computed, ref, shallowRef } from 'vue'

import { get } from '@/api/http'
import type { Addresses } from '@/api/types'
import { attempt } from '@/stores/toasts'

export const isLocal = (url: string): boolean => /^https?:\/\/(127\.|localhost[:/]|localhost$|\[::1\]|0\.0\.0\.0)/.test(url)

/** What there is to choose from. The address of this page comes first if it is not the machine's own. */
export function useAddresses() {
  const found = shallowRef<Addresses | null>(null)
  const chosen = ref('')
  const choices = computed(() => {
    const here = isLocal(location.origin) ? [] : [location.origin]
    return [...new Set([...here, ...(found.value?.addresses ?? [])])]
  })
  const address = computed(() => (choices.value.includes(chosen.value) ? chosen.value : (choices.value[0] ?? '')))
  const load = async (): Promise<void> => {
    found.value = (await attempt(() => get<Addresses>('/api/addresses'))) ?? null
  }
  return { found, choices, chosen, address, load }
}
