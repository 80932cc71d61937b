import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { useHistory } from './history'

const NOWHERE = { before: '', after: '' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function begin(text = 'a') {
  const history = useHistory()
  history.reset(text)
  return history
}

test('what was written is undone and redone, with the step that was chosen then', () => {
  const history = begin()
  history.write('b', { before: 'one', after: 'two' })
  expect(history.undo('two')).toBe(true)
  expect(history.now.value).toEqual({ text: 'a', chosen: 'one' })
  expect(history.redo('one')).toBe(true)
  expect(history.now.value).toEqual({ text: 'b', chosen: 'two' })
  expect(history.redo('two')).toBe(false)
})

test('letters typed in one place without a pause are one step', () => {
  const history = begin()
  for (const text of ['ab', 'abc', 'abcd']) history.write(text, NOWHERE, 'name')
  history.undo('')
  expect(history.now.value.text).toBe('a')
})

test.each([
  ['after a pause', () => vi.advanceTimersByTime(1000), 'abc', 'name'],
  ['in another place', () => {}, 'abc', 'title'],
  ['on a new line', () => {}, 'ab\n', 'name'],
  ['without a place', () => {}, 'abc', ''],
])('what is typed %s is a step of its own', (_, meanwhile, text, place) => {
  const history = begin()
  history.write('ab', NOWHERE, 'name')
  meanwhile()
  history.write(text, NOWHERE, place)
  history.undo('')
  expect(history.now.value.text).toBe('ab')
})

test('whoever writes after an undo gives up what was undone', () => {
  const history = begin()
  history.write('b', NOWHERE)
  history.undo('')
  history.write('c', NOWHERE)
  expect(history.canRedo.value).toBe(false)
  history.undo('')
  expect(history.now.value.text).toBe('a')
})

test('the same text is no step, and the oldest steps are forgotten', () => {
  const history = begin()
  history.write('a', NOWHERE)
  expect(history.canUndo.value).toBe(false)
  for (let number = 0; number < 400; number++) history.write(String(number), NOWHERE)
  let steps = 0
  while (history.undo('')) steps++
  expect(steps).toBe(300)
})
