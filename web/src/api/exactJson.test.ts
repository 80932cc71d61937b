import { expect, test } from 'vitest'

import { ExactNumber, parseExact, stringifyExact } from './exactJson'

const LARGE = '123456789012345678901234567890'

test('a number that JavaScript would round comes back as it was written', () => {
  const read = parseExact(`{"id": ${LARGE}, "small": 12, "words": "${LARGE}"}`) as Record<string, unknown>
  expect(read).toEqual({ id: new ExactNumber(LARGE), small: 12, words: LARGE })
  expect(stringifyExact(read)).toBe(`{"id":${LARGE},"small":12,"words":"${LARGE}"}`)
})

test('other numbers are ordinary ones', () => {
  expect(parseExact('[9007199254740991, 1.0000000000000000001, -3e20]')).toEqual([9007199254740991, 1, -3e20])
})

test('an escaped quotation mark ends no text', () => {
  const text = JSON.stringify({ says: `"${LARGE}` })
  expect(parseExact(text)).toEqual({ says: `"${LARGE}` })
})
