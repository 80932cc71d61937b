import { expect, test } from 'vitest'

import type { WorkflowStep } from '@/api/rows'
import { buildReport, findParts, formatValue, showWaiting } from './runReport'

const makeRow = (id: string, more: Partial<WorkflowStep> = {}) => ({ id, run_id: 'wf_1', ...more }) as WorkflowStep

test('a running step whose agent waits for an answer waits, and so does the step that it is a part of', () => {
  const rows = [makeRow('look', { status: 'running' }), makeRow('each', { status: 'running' }), makeRow('each[1]', { status: 'running' })]
  const shown = showWaiting(rows, [{ step: 'each[1]', ask_id: 'ask_1', kind: 'question', since: 0 }])
  expect([...shown.values()].map((one) => one.status)).toEqual(['running', 'waiting', 'waiting'])
})

test('a step that has ended does not wait any more', () => {
  const shown = showWaiting([makeRow('look', { status: 'completed' })], [{ step: 'look', ask_id: 'ask_1', kind: 'question', since: 0 }])
  expect(shown.get('look')?.status).toBe('completed')
})

test('the parts of a step come in their order, and those of a step with a longer name are none', () => {
  const rows = [makeRow('each'), makeRow('each[1]', { index: 1 }), makeRow('each[0]', { index: 0 }), makeRow('each-other[0]', { index: 0 })]
  expect(findParts('each', rows).map((one) => one.id)).toEqual(['each[0]', 'each[1]'])
})

test('a step costs what its parts cost, and one that has not begun costs nothing', () => {
  const spent = { input_tokens: 10, output_tokens: 5, cost_usd: 0.5 }
  const rows = [
    makeRow('each', { status: 'completed', began_at: 1000, ended_at: 4000 }),
    makeRow('each[0]', { spent }),
    makeRow('each[1]', { spent }),
  ]
  const report = buildReport([{ id: 'each', name: 'All of them' }, { id: 'last' }], new Map(rows.map((one) => [one.id, one])), 9000)
  expect(report).toMatchObject([
    { id: 'each', name: 'All of them', status: 'completed', tokens: 30, cost: 1 },
    { id: 'last', name: 'last', status: 'pending', took: '', tokens: 0, cost: 0 },
  ])
  expect(report[0]!.took).toContain('3')
})

test('a text is shown as it is, and any other value as JSON', () => {
  expect(formatValue('a "word"')).toBe('a "word"')
  expect(formatValue({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}')
})
