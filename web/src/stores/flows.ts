/** Workflows, their runs, and how a definition is checked and laid out by the hub. */
import { defineStore } from 'pinia'
import { computed } from 'vue'

import { post } from '@/api/http'
import type { WorkflowRun, WorkflowDefinition } from '@/api/rows'
import type { Sentence } from '@/browser/sentences'
import { useView } from '@/sync/useView'

const LIVE = new Set(['running', 'paused', 'stopping'])
export const isActive = (run: WorkflowRun): boolean => LIVE.has(run.status)
/** How a run stands, as it is shown: a running one may have nothing to do but wait. */
export const getShownStatus = (run: WorkflowRun): string => (run.waiting ? 'waiting' : run.status)

export const useFlows = defineStore('flows', () => {
  const view = useView('workflows')
  const list = computed(() => [...view.map('workflow').values()].sort((a, b) => a.name.localeCompare(b.name)))
  const runs = computed(() =>
    [...view.map('workflow_run').values()].filter((run) => !run.parent_id).sort((a, b) => b.created_at - a.created_at),
  )
  const live = computed(() => runs.value.filter(isActive))
  return { view, list, runs, live }
})

export interface Problem {
  code: string
  message: string
  remedy: string
  path?: (string | number)[]
  step?: string | null
  line?: number | null
  sentences?: Record<string, Sentence>
}
export interface Picture {
  width: number
  height: number
  places: Record<string, [number, number]>
  arrows: { source: string; target: string; label: string; kind: string; points: [number, number][] }[]
}
export interface CheckResult {
  ok: boolean
  problems: Problem[]
  warnings?: Problem[]
  definition: WorkflowDefinition | null
  picture: Picture | null
}

export const BOX = { width: 232, height: 58 }
export const checkWorkflow = (text: string): Promise<CheckResult> => post<CheckResult>('/api/workflow-check', { text, file: '' })
