/** What the steps of a run did, took and cost. */
import type { PersonWait, Step, WorkflowStep } from '@/api/rows'
import { formatDuration } from '@/kit/format'

export interface ReportLine {
  id: string
  name: string
  status: WorkflowStep['status'] & string
  took: string
  tokens: number
  cost: number
}

const getStepOfPart = (id: string): string => id.split('[')[0]!

/** The steps by their ids. One whose agent waits for an answer does not just run. */
export function showWaiting(rows: WorkflowStep[], waits: PersonWait[]): Map<string, WorkflowStep> {
  const waiting = new Set(waits.flatMap((one) => [one.step, getStepOfPart(one.step)]))
  const show = (row: WorkflowStep): WorkflowStep => (row.status === 'running' && waiting.has(row.id) ? { ...row, status: 'waiting' } : row)
  return new Map(rows.map((row) => [row.id, show(row)]))
}

/** The rows of a step that is done for each of several things, in their order. */
export const findParts = (id: string, rows: Iterable<WorkflowStep>): WorkflowStep[] =>
  [...rows].filter((one) => one.id !== id && getStepOfPart(one.id) === id).sort((a, b) => (a.index ?? 0) - (b.index ?? 0))

/** A line for each step. One that was done for several things spent what its parts spent. */
export function buildReport(steps: Step[], rows: Map<string, WorkflowStep>, now: number): ReportLine[] {
  return steps.map(({ id, name }) => {
    const row = rows.get(id)
    const all = [...(row ? [row] : []), ...findParts(id, rows.values())]
    return {
      id,
      name: name || id,
      status: row?.status ?? 'pending',
      took: row?.began_at ? formatDuration((row.ended_at ?? now) - row.began_at) : '',
      tokens: all.reduce((sum, one) => sum + (one.spent?.input_tokens ?? 0) + (one.spent?.output_tokens ?? 0), 0),
      cost: all.reduce((sum, one) => sum + (one.spent?.cost_usd ?? 0), 0),
    }
  })
}

/** A value as a person reads it. */
export const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
