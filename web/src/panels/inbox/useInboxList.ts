/** The list of the inbox: which asks are in it, in which groups, and which are selected. */
import { computed, reactive, ref, watch } from 'vue'

import type { Ask } from '@/api/rows'
import { t } from '@/browser/i18n'
import { storedRef } from '@/browser/storedRef'
import { useAgents } from '@/stores/agents'
import { useAsks } from '@/stores/asks'
import { useThreads } from '@/stores/threads'
import { isAnsweredAlone } from '@/kit/asks/approval'
import { getAskerName, getCommand, buildTitle } from '@/kit/asks/askDisplay'
import { KINDS, nameKind } from '@/kit/asks/kindInfo'
import { useAskRows, type AskInList } from '@/kit/asks/useAskRows'

export const GROUPINGS = ['none', 'risk', 'kind', 'agent', 'thread'] as const
export type Grouping = (typeof GROUPINGS)[number]

export interface AskGroup {
  name: string
  rows: AskInList[]
  /** How many of them wait. */
  count: number
}

export function useInboxList(shownId: () => string) {
  const asks = useAsks()
  const agents = useAgents()
  const threads = useThreads()
  const kind = ref('')
  const search = ref('')
  const isSnoozed = ref(false)
  const grouping = storedRef<Grouping>('inboxGrouping', 'none')
  const picked = reactive(new Set<string>())

  const source = computed(() => (isSnoozed.value ? asks.snoozed : asks.needing))
  const list = useAskRows(() => source.value, shownId)
  watch(isSnoozed, list.refresh, { flush: 'sync' })
  watch(
    () => asks.snoozed.length,
    (now) => !now && (isSnoozed.value = false),
  )

  const agentOf = (ask: Ask) => agents.nameOf(ask.agent_id, getAskerName(ask))
  const threadOf = (ask: Ask) => threads.find(ask.thread_id)?.topic ?? ''
  const words = computed(() => search.value.toLowerCase().split(/\s+/).filter(Boolean))
  function fits(ask: Ask): boolean {
    if (kind.value && ask.kind !== kind.value) return false
    if (!words.value.length) return true
    const all = [buildTitle(ask), ask.title, getCommand(ask.subject) ?? '', agentOf(ask), threadOf(ask), ask.text ?? '']
    const text = all.join('\n').toLowerCase()
    return words.value.every((word) => text.includes(word) || word === ask.id)
  }

  /** How many of each kind there are. When the last of a kind is answered, the others are shown again. */
  const kinds = computed(() =>
    KINDS.map((one) => ({ kind: one, count: source.value.filter((ask) => ask.kind === one).length })).filter(({ count }) => count > 0),
  )
  watch(kinds, (now) => !now.some((one) => one.kind === kind.value) && (kind.value = ''))

  const groupOf: Record<Grouping, (ask: Ask) => string> = {
    none: () => '',
    risk: (ask) => t(ask.risk ? `inbox.riskLong.${ask.risk}` : 'inbox.riskLong.none'),
    kind: (ask) => nameKind(ask.kind, 'many'),
    agent: agentOf,
    thread: (ask) => threadOf(ask) || t('inbox.noThread'),
  }
  const groups = computed<AskGroup[]>(() => {
    const found = new Map<string, AskInList[]>()
    for (const row of list.rows.value) {
      if (!fits(row.ask) && row.ask.id !== shownId()) continue
      const name = groupOf[grouping.value](row.ask)
      found.set(name, [...(found.get(name) ?? []), row])
    }
    return [...found].map(([name, rows]) => ({ name, rows, count: rows.filter((row) => !row.isOver && fits(row.ask)).length }))
  })
  const visible = computed(() => groups.value.flatMap((group) => group.rows))

  const waiting = computed(() => visible.value.filter((row) => !row.isOver).map((row) => row.ask))
  /** What is selected, of what can be seen. */
  const chosen = computed(() => waiting.value.filter((ask) => picked.has(ask.id)))
  const toggle = (id: string) => void (picked.delete(id) || picked.add(id))
  const pickAll = () => waiting.value.filter((ask) => !isAnsweredAlone(ask)).forEach((ask) => picked.add(ask.id))
  watch(chosen, (now) => {
    const here = new Set(now.map((ask) => ask.id))
    for (const id of [...picked]) if (!here.has(id)) picked.delete(id)
  })

  return {
    kind,
    search,
    isSnoozed,
    grouping,
    kinds,
    groups,
    visible,
    isEmpty: computed(() => !list.rows.value.some((row) => fits(row.ask))),
    total: computed(() => source.value.length),
    freshCount: computed(() => list.fresh.value.filter(fits).length),
    refresh: list.refresh,
    attention: list.attention,
    picked,
    chosen,
    toggle,
    pickAll,
  }
}
