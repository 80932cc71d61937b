import { expect, test } from 'vitest'

import { getNeighbour } from './neighbour'

const IDS = ['a', 'b', 'c']

test('the next item and the one before it are opened', () => {
  expect(getNeighbour(IDS, 'b', 1)).toBe('c')
  expect(getNeighbour(IDS, 'b', -1)).toBe('a')
})

test('at an end of the list the item stays', () => {
  expect(getNeighbour(IDS, 'c', 1)).toBe('c')
  expect(getNeighbour(IDS, 'a', -1)).toBe('a')
})

test('from an item that is not in the list the first one is opened', () => {
  expect(getNeighbour(IDS, '', 1)).toBe('a')
  expect(getNeighbour(IDS, 'gone', -1)).toBe('a')
  expect(getNeighbour([], '', 1)).toBeUndefined()
})
