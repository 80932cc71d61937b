import { afterEach, expect, test } from 'vitest'

import { language } from '@/browser/i18n'
import { formatAge, formatCount, formatDuration, formatMoney } from './format'

afterEach(() => (language.value = 'en'))

test.each([
  [-5, '0s', '0秒'],
  [59_400, '59s', '59秒'],
  [60_000, '1m', '1分'],
  [3_600_000, '1h', '1时'],
  [200_000_000, '2d', '2天'],
])('an age of %i ms is %s', (ms, english, chinese) => {
  expect(formatAge(ms)).toBe(english)
  language.value = 'zh-CN'
  expect(formatAge(ms)).toBe(chinese)
})

test.each([
  [1_240, '1.2s', '1.2秒'],
  [59_400, '59s', '59秒'],
  [59_600, '1m 0s', '1分0秒'],
  [3_660_000, '1h 1m', '1时1分'],
])('a duration of %i ms is %s', (ms, english, chinese) => {
  expect(formatDuration(ms)).toBe(english)
  language.value = 'zh-CN'
  expect(formatDuration(ms)).toBe(chinese)
})

test('sums of money never look like nothing', () => {
  expect([0, 0.004, 0.5, 12.4].map(formatMoney)).toEqual(['$0', '<$0.01', '$0.50', '$12'])
})

test('large counts are short', () => {
  expect([999, 1_234, 12_345, 2_500_000].map(formatCount)).toEqual(['999', '1.2k', '12k', '2.5M'])
})
