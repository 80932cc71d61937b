/** The profiles from which agents can be called, and whether they can be called now. */
import { defineStore } from 'pinia'
import { computed, shallowRef, watch } from 'vue'

import { get } from '@/api/http'
import type { ListedProfile, SamplePrompts } from '@/api/types'
import { may } from './me'
import { useView } from '@/sync/useView'
import { fillPrompt } from './samplePrompts'

/** A profile whose agents follow a script. */
export type Practice = ListedProfile & { samples: SamplePrompts }

export const useProfiles = defineStore('profiles', () => {
  const list = shallowRef<ListedProfile[]>([])
  const ready = shallowRef(false)
  const nodes = useView('nodes')
  const rows = may('operate') ? useView('profiles') : null
  async function load(): Promise<void> {
    list.value = await get<ListedProfile[]>('/api/profiles')
    ready.value = true
  }
  // What can be called follows from profiles and nodes; the rule for it is the hub's.
  const places = () =>
    [...nodes.map('node').values()].map((node) => `${node.id} ${node.state ?? ''} ${Object.keys(node.drivers ?? {})}`).join()
  watch(
    () => [places(), rows ? [...rows.map('profile').values()].map((one) => `${one.name}${one.changed_at}`).join() : ''],
    () => void load().catch(() => undefined),
    { immediate: true },
  )
  const invitable = computed(() => list.value.filter((one) => one.is_invitable))
  const practice = computed(() => {
    const all = invitable.value.filter((one): one is Practice => !!one.samples)
    return all.find((one) => one.source === 'builtin') ?? all[0]
  })
  /** The profile that a first step names: one that costs nothing, if there is one. */
  const first = computed(() => practice.value ?? list.value.find((one) => one.samples) ?? invitable.value[0] ?? list.value[0])
  /** A prompt that has an agent of a profile say a text. */
  const promptToSay = (text: string, profile?: ListedProfile): string => fillPrompt(profile?.samples?.say ?? '{text}', { text })
  const nameOf = (name: string): string => list.value.find((one) => one.name === name)?.display_name || name
  /** How a profile stands, in one of the words of StatusMark: that a CLI which ships as an offer is not installed is no failure. */
  const getStatus = (one: ListedProfile): string =>
    one.is_invitable ? 'connected' : one.enabled && one.source !== 'builtin' ? 'unreachable' : 'offline'
  return { getStatus, list, ready, invitable, practice, first, promptToSay, nodes, rows, nameOf, load }
})
