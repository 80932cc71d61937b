import { expect, test } from 'vitest'

import { scoreMatch } from './matchScore'

test('a beginning is better than a word, a word than scattered letters, and letters than nothing', () => {
  const scores = ['open the inbox', 'the open inbox', 'only people enter now', 'runs'].map((title) => scoreMatch('open', title))
  expect(scores).toEqual([...scores].sort((a, b) => b - a))
  expect(new Set(scores).size).toBe(scores.length)
  expect(scores.at(-1)).toBe(0)
})

test('a hint is found by whole words only', () => {
  expect(scoreMatch('settings', 'Devices', 'settings')).toBeGreaterThan(0)
  expect(scoreMatch('stgs', 'Devices', 'settings')).toBe(0)
})

test('whoever typed nothing finds everything', () => {
  expect(scoreMatch('  ', 'anything')).toBe(1)
})
