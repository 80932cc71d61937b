/** The runs that changed last, and all that are active. */
import { defineStore } from 'pinia'
import { computed } from 'vue'

import { ACTIVE_RUN_STATUSES, type Run } from '@/api/rows'
import { useView } from '@/sync/useView'

/** Whether a run has not ended. Whatever the page counts as active is counted by this. */
export const isLive = (run: Run): boolean => ACTIVE_RUN_STATUSES.includes(run.status)
/** Whether an active run waits for the answer of a person, and not for a time at which it continues. */
export const waitsForPerson = (run: Run): boolean => run.status === 'waiting' && !run.goes_on_at

export interface TreeRow {
  run: Run
  depth: number
  /** How many runs are listed directly below it. */
  children: number
}

export const useRuns = defineStore('runs', () => {
  const view = useView('runs')
  const list = computed(() => [...view.map('run').values()].sort((a, b) => b.created_at - a.created_at))
  const live = computed(() => list.value.filter(isLive))
  const waiting = computed(() => list.value.filter(waitsForPerson))
  const find = (id: string | null | undefined): Run | undefined => (id ? view.map('run').get(id) : undefined)
  return { view, list, live, waiting, find }
})

/** Runs as trees: each below the run that started it, roots in the given order, children oldest first. */
export function buildTrees(runs: Run[], isOpen: (run: Run) => boolean = () => true): TreeRow[] {
  const known = new Set(runs.map((run) => run.id))
  const below = new Map<string, Run[]>()
  const nested = (run: Run): boolean => !!run.parent_id && known.has(run.parent_id)
  for (const run of runs) if (nested(run)) below.set(run.parent_id!, [run, ...(below.get(run.parent_id!) ?? [])])
  const rows: TreeRow[] = []
  const add = (run: Run, depth: number): void => {
    const children = below.get(run.id) ?? []
    rows.push({ run, depth, children: children.length })
    if (isOpen(run)) for (const child of children) add(child, depth + 1)
  }
  for (const run of runs) if (!nested(run)) add(run, 0)
  return rows
}

/** What a run is about: the first line of its prompt, whole, without the mark of a heading. */
export function describeRun(run: Run): string {
  const line = calledFor(run.prompt) || (run.prompt.split('\n').find((one) => one.trim()) ?? '')
  return line.trim().replace(/^#+\s+/, '')
}

/** What an agent is called into a thread for: the first line of the message that has woken it, or the topic. */
function calledFor(prompt: string): string {
  const called = /^You [^\n]+ the thread “([^\n]+)” \([^\n]+ of the Greenroom hub\.[^\n]*(?:\n\n\[\d+\] [^\n]+:\n([^\n]+))?/.exec(prompt)
  return called?.[2] ?? called?.[1] ?? ''
}

export const getCost = (run: Run): number => run.cost_usd ?? 0
/** What goes before the tokens of a run of which a model call was cut off: it has used more than is known. */
export const getUsagePrefix = (run: Run): string => (run.is_usage_partial ? '≥ ' : '')
export const countTokens = (run: Run): number => (run.input_tokens ?? 0) + (run.output_tokens ?? 0)
