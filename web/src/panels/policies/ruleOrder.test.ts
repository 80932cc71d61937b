import { expect, test } from 'vitest'

import { getDropPlace, getNextPlace, getPlace, type RulePlace } from './ruleOrder'

const RULES = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
/** The order once a rule has gone to a place. */
function put(name: string, place: RulePlace): string {
  const others = RULES.map((one) => one.name).filter((one) => one !== name)
  others.splice(place ? others.indexOf(place) : others.length, 0, name)
  return others.join('')
}

test('a rule put back to its place stands where it stood', () => {
  for (const { name } of RULES) expect(put(name, getPlace(RULES, name))).toBe('abcd')
})

test('a rule moves one step up or down', () => {
  expect(put('c', getNextPlace(RULES, 'c', -1))).toBe('acbd')
  expect(put('b', getNextPlace(RULES, 'b', 1))).toBe('acbd')
  expect(put('c', getNextPlace(RULES, 'c', 1))).toBe('abdc')
})

test('a rule that is dropped on another takes its position, from above and from below', () => {
  expect(put('a', getDropPlace(RULES, 'a', 'c'))).toBe('bcad')
  expect(put('d', getDropPlace(RULES, 'd', 'b'))).toBe('adbc')
  expect(put('a', getDropPlace(RULES, 'a', 'd'))).toBe('bcda')
})
