import { expect, test } from 'vitest'

import { hasHiddenCharacters, limitLength, reveal, revealSpaces } from './hiddenCharacters'

test('signs that cannot be seen, or turn the text around them, are written out', () => {
  expect(reveal('rm\u200b -r')).toBe('rm⟦U+200B⟧ -r')
  expect(reveal('\u202egnp.exe')).toBe('⟦U+202E⟧gnp.exe')
  expect(reveal('\u{e0041}')).toBe('⟦U+E0041⟧')
  expect(hasHiddenCharacters('two\nlines\tand 智能体')).toBe(false)
})

test('each sign is found again, however often it was looked for', () => {
  expect([1, 2, 3].map(() => hasHiddenCharacters('a\u200b'))).toEqual([true, true, true])
})

test('a shell is shown which spaces are none', () => {
  expect(revealSpaces('rm\u00a0-r x')).toBe('rm⟦U+00A0⟧-r x')
})

test('letters that pass for Latin ones are written out, and whole words of another language are not', () => {
  expect(revealSpaces('c\u0430t')).toBe('c⟦U+0430⟧t')
  expect(revealSpaces('\u0441\u0430\u0440')).toBe('⟦U+0441⟧⟦U+0430⟧⟦U+0440⟧')
  expect(revealSpaces('Привет')).toBe('Привет')
})

test('a text beyond all measure says how much is missing', () => {
  expect(limitLength('x'.repeat(100_000))).toHaveLength(100_000)
  expect(limitLength('x'.repeat(100_007))).toMatch(/ … \(\+7\)$/)
})
