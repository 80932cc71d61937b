/** Workflows, their runs, and how a definition is checked and laid out by the hub. */
import { defineStore } from 'pinia'
import { computed } from 'vue'

import { post } from '@/api/http'
import type { WorkflowRun, WorkflowsDefinition } from '@/api/rows'
import { useView } from '@/sync/use'

const LIVE = new Set(['running', 'paused', 'stopping'])
export const isGoing = (run: WorkflowRun): boolean => LIVE.has(run.status)
/** How a run stands, as it is shown: a running one may have nothing to do but wait. */
export const statusOf = (run: WorkflowRun): string => (run.waiting ? 'waiting' : run.status)

export const useFlows = defineStore('flows', () => {
  const view = useView('workflows')
  const list = computed(() => [...view.map('workflow').values()].sort((a, b) => a.name.localeCompare(b.name)))
  const runs = computed(() => [...view.map('workflow_run').values()].filter((run) => !run.parent_id).sort((a, b) => b.created_at - a.created_at))
  const live = computed(() => runs.value.filter(isGoing))
  return { view, list, runs, live }
})

export interface Problem { code: string; message: string; remedy: string; path?: (string | number)[]; step?: string | null; line?: number | null }
export interface Picture {
  width: number
  height: number
  places: Record<string, [number, number]>
  arrows: { source: string; target: string; label: string; kind: string; points: [number, number][] }[]
}
export interface Checked { ok: boolean; problems: Problem[]; warnings?: Problem[]; definition: WorkflowsDefinition | null; picture: Picture | null }

export const BOX = { width: 232, height: 58 }
export const check = (text: string): Promise<Checked> => post<Checked>('/api/workflow-check', { text, file: '' })
