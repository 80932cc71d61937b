import { expect, test } from 'vitest'

import { arrangeSteadyRows, type SteadyRowsOptions } from './steadyRows'

interface Item {
  id: string
  says: string
}
const items = (ids: string, says = ''): Item[] => [...ids].map((id) => ({ id, says }))

function arrange(shown: string, now: string, options: Partial<SteadyRowsOptions<Item>> = {}): [rows: string, fresh: string] {
  const all = { keyOf: (item: Item) => item.id, holdsFresh: false, holdsOver: false, ...options }
  const { rows, fresh } = arrangeSteadyRows(items(shown), items(now), all)
  return [rows.map((one) => one.id).join(''), fresh.map((one) => one.id).join('')]
}

test('nobody is there: the list is what is there now', () => {
  expect(arrange('abc', 'dca')).toEqual(['dca', ''])
})

test('rows keep their places, and what is new waits', () => {
  expect(arrange('abc', 'dcba', { holdsFresh: true })).toEqual(['abc', 'd'])
})

test('an empty list has no places to keep', () => {
  expect(arrange('', 'ab', { holdsFresh: true })).toEqual(['ab', ''])
})

test('what is over goes, or stays where it was', () => {
  expect(arrange('abc', 'ac', { holdsFresh: true })).toEqual(['ac', ''])
  expect(arrange('abc', 'ac', { holdsFresh: true, holdsOver: true })).toEqual(['abc', ''])
  expect(arrange('abc', 'ac', { holdsOver: true })).toEqual(['abc', ''])
})

test('what is being looked at stays in any case', () => {
  expect(arrange('abc', 'ac', { kept: 'b' })).toEqual(['abc', ''])
  expect(arrange('abc', '', { kept: 'c' })).toEqual(['c', ''])
})

test('a row that stays shows what is known of it now', () => {
  const options = { keyOf: (item: Item) => item.id, holdsFresh: true, holdsOver: true }
  const { rows } = arrangeSteadyRows(items('ab', 'old'), items('b', 'new'), options)
  expect(rows.map((one) => one.says)).toEqual(['old', 'new'])
})
