/** The runs that changed last. */
import { defineStore } from 'pinia'
import { computed } from 'vue'

import type { Run } from '@/api/rows'
import { useView } from '@/sync/use'

const LIVE = new Set(['pending', 'running', 'waiting'])
export const isLive = (run: Run): boolean => LIVE.has(run.status)

export const useRuns = defineStore('runs', () => {
  const view = useView('runs')
  const list = computed(() => [...view.map('run').values()].sort((a, b) => b.created_at - a.created_at))
  const live = computed(() => list.value.filter(isLive))
  const find = (id: string | null | undefined): Run | undefined => (id ? view.map('run').get(id) : undefined)
  return { view, list, live, find }
})

/** What a run is about, in a few words: its prompt's first line that is meant for people. */
export function about(run: Run): string {
  const line = run.prompt.split('\n').find((one) => one.trim()) ?? ''
  return line.trim().replace(/^(#|SAY|THINK|SHELL|ASK|SLEEP|WRITE|EDIT|SPAWN|POST|TOOL|FAIL)\s+/, '')
}

export const costOf = (run: Run): number => run.cost_usd ?? 0
export const tokensOf = (run: Run): number => (run.input_tokens ?? 0) + (run.output_tokens ?? 0)
