import { expect, test } from 'vitest'

import { countChanges, diffLines, foldUnchanged } from './diff'

const signs = { same: ' ', gone: '-', new: '+' }
const written = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => signs[kind] + text)

test('only lines that differ are gone or new', () => {
  expect(written('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c'])
  expect(written('a\nb\nc\nd', 'b\nd\ne')).toEqual(['-a', ' b', '-c', ' d', '+e'])
})

test('an empty text has no lines', () => {
  expect(written('', 'a')).toEqual(['+a'])
  expect(written('a', '')).toEqual(['-a'])
  expect(written('', '')).toEqual([])
})

test('what would take too long is all gone and all new', () => {
  const many = (word: string) => Array.from({ length: 1501 }, (_, at) => `${word} ${at}`).join('\n')
  expect(countChanges(diffLines(many('a'), many('b')))).toEqual({ gone: 1501, fresh: 1501 })
})

test('lines far from a change are left out once', () => {
  const before = Array.from({ length: 20 }, (_, at) => `line ${at}`)
  const folded = foldUnchanged(diffLines(before.join('\n'), before.with(10, 'new').join('\n')), 1)
  expect(folded.map((one) => one?.text ?? null)).toEqual([null, 'line 9', 'line 10', 'new', 'line 11', null])
})
