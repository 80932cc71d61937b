import { expect, test } from 'vitest'

import type { WorkflowDefinition } from '@/api/rows'
import { WorkflowDocument } from './workflowDocument'

const TEXT = `# what it is for
name: report
steps:
  - id: look # first
    profile: claude
    prompt: look around
  - id: write
    profile: claude
    prompt: "say {{ steps.look.output }} and {{ steps['look'].verdict }}"
    dependencies: [look]
    on_error: route:look
edges:
  - from: look
    to: write
    when: inputs.topic != ""
`
const DEFINITION = {
  name: 'report',
  steps: [
    { id: 'look', profile: 'claude', prompt: 'look around' },
    { id: 'write', profile: 'claude', prompt: 'say', dependencies: ['look'], on_error: 'route:look' },
  ],
} as unknown as WorkflowDefinition

const open = (text = TEXT) => new WorkflowDocument(text, DEFINITION)

test('a change leaves comments and the order of keys alone', () => {
  const text = open().setStep('look', 'prompt', 'look again').setWhole('description', 'words').text
  expect(text).toContain('# what it is for')
  expect(text).toContain('- id: look # first')
  expect(text.replace('look again', 'look around').replace('description: words\n', '')).toBe(new WorkflowDocument(TEXT, DEFINITION).text)
})

test('a step that is renamed is renamed wherever it is named', () => {
  const text = open().rename('look', 'see').text
  expect(text).not.toMatch(/\blook\b(?! around)/)
  expect(text).toContain('steps.see.output }} and {{ steps.see.verdict')
  expect(text).toContain('on_error: route:see')
  expect(text).toContain('from: see')
})

test('a name that only begins alike stays', () => {
  const text = open(TEXT.replace('look around', '{{ steps.looking.output }}')).rename('look', 'see').text
  expect(text).toContain('steps.looking.output')
  expect(text).toContain('steps.see.output')
})

test('a step that goes takes its edges and what waits for it along', () => {
  const text = open().removeStep('look').text
  expect(text).not.toContain('edges')
  expect(text).not.toContain('dependencies')
})

test('steps are joined once, and parted with their condition', () => {
  const joined = open().join('look', 'write').text
  expect(joined.match(/dependencies/g)).toHaveLength(1)
  expect(open().part('look', 'write').text).not.toMatch(/edges|dependencies/)
})

test('a condition that goes leaves the order', () => {
  const text = open(TEXT.replace('    dependencies: [look]\n', '')).setWhen('look', 'write', undefined).text
  expect(text).not.toContain('edges')
  expect(text).toContain('dependencies')
})

test('a condition is changed where it stands, and made where there is none', () => {
  expect(open().setWhen('look', 'write', 'true').text).toContain('when: "true"')
  expect(open().setWhen('write', 'look', 'true').text.match(/from:/g)).toHaveLength(2)
})

test('a value that is taken away leaves no empty mapping behind', () => {
  const made = open().setStep('look', 'retry.attempts', 3).text
  expect(made).toContain('attempts: 3')
  expect(new WorkflowDocument(made, DEFINITION).setStep('look', 'retry.attempts', undefined).text).not.toContain('retry')
})

test('what takes a step back is a list as long as there is something in it', () => {
  const made = open().addRollback('write', { prompt: 'take it back' }).text
  expect(made).toContain('prompt: take it back')
  expect(new WorkflowDocument(made, DEFINITION).removeRollback('write', 0).text).not.toContain('rollback')
})

test('a text that cannot be read is known as such', () => {
  expect(open('steps: [').isBroken).toBe(true)
  expect(open().isBroken).toBe(false)
})
