import { expect, test } from 'vitest'

import { HOLD_MS, LongPress } from './longPress'

test('a press is complete after it was held for a second', () => {
  const press = new LongPress(false, 0)
  for (let now = 50; now < HOLD_MS; now += 50) expect(press.tick(now)).toBeLessThan(1)
  expect(press.tick(HOLD_MS)).toBe(1)
})

test('time in which the page stood still does not count', () => {
  const press = new LongPress(true, 0)
  expect(press.tick(10 * HOLD_MS)).toBeLessThan(0.1)
})
