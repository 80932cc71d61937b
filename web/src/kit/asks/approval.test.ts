import { expect, test } from 'vitest'

import { getRequiredStep, type PressMethod } from './approval'

const WAYS: PressMethod[] = ['pointer', 'key', 'shortcut', 'palette', 'held', 'held by key']

test.each([
  [false, false, ['none', 'none', 'none', 'name', 'none', 'none']],
  [false, true, ['none', 'name', 'choose', 'name', 'none', 'name']],
  [true, false, ['hold', 'name', 'name', 'hold', 'none', 'none']],
  [true, true, ['hold', 'name', 'choose', 'hold', 'none', 'name']],
])('what comes before an approval, at high risk: %s, with words: %s', (isHigh, hasWords, steps) => {
  expect(WAYS.map((way) => getRequiredStep(way, isHigh, hasWords))).toEqual(steps)
})
