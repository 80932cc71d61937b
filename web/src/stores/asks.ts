/** What waits for a person, and who has answered what. */
import { defineStore } from 'pinia'
import { computed, watch } from 'vue'

import type { Ask } from '@/api/rows'
import { now } from './clock'
import { t } from '@/browser/i18n'
import { me, personName } from './me'
import { showToast } from './toasts'
import { useView } from '@/sync/useView'

const RISKS: Record<string, number> = { high: 3, medium: 2, low: 1 }

export const isSnoozed = (ask: Ask, at: number): boolean => (ask.snoozed_until ?? 0) > at

/** What is urgent first: what is about to expire, then what is risky, then what has waited longest. */
export function byUrgency(a: Ask, b: Ask): number {
  const soon = (ask: Ask) => (ask.warned ? 1 : 0)
  return soon(b) - soon(a) || (RISKS[b.risk ?? ''] ?? 0) - (RISKS[a.risk ?? ''] ?? 0) || a.asked_at - b.asked_at
}

export const useAsks = defineStore('asks', () => {
  const view = useView('inbox', undefined, 1000)
  const mine = new Set<string>()
  const open = computed(() => [...view.map('ask').values()].filter((ask) => ask.state === 'open').sort(byUrgency))
  const minute = computed(() => Math.floor(now.value / 10_000) * 10_000)
  const needing = computed(() => open.value.filter((ask) => !isSnoozed(ask, minute.value)))
  const snoozed = computed(() => open.value.filter((ask) => isSnoozed(ask, minute.value)))
  const find = (id: string | null | undefined): Ask | undefined => (id ? view.map('ask').get(id) : undefined)

  // Whatever was answered by somebody else goes from the list, and it is said who did it.
  let before = new Map<string, Ask>()
  watch(open, (list) => {
    const here = new Map(list.map((ask) => [ask.id, ask]))
    for (const [id, ask] of before) {
      const after = view.map('ask').get(id)
      if (here.has(id) || mine.delete(id) || !after?.answer || after.answer.by === me.id) continue
      const name = personName(after.answer.name || after.answer.by)
      showToast(t(`shell.answeredBy.${after.answer.verdict}`, { title: ask.title, name }))
    }
    before = here
  })
  return { view, open, needing, snoozed, find, mine }
})
