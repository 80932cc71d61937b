import { expect, test } from 'vitest'

import type { Agent } from '@/api/rows'
import type { ListedProfile } from '@/api/types'
import { completeMention, findMentions, readMention } from './mentions'

const makeAgent = (id: string, more: Partial<Agent> = {}) => ({ id, name: id, ...more }) as Agent
const makeProfile = (name: string, more: Partial<ListedProfile> = {}): ListedProfile => ({
  name,
  display_name: name.toUpperCase(),
  description: '',
  driver: 'acp',
  enabled: true,
  source: 'api',
  is_invitable: true,
  ...more,
})
const getIds = (...given: Parameters<typeof findMentions>) => findMentions(...given).map((one) => `${one.kind} ${one.id}`)

test('a mention is what follows an at sign that begins a word', () => {
  expect(readMention('Hello @rev')).toEqual({ from: 7, word: 'rev' })
  expect(readMention('@')).toEqual({ from: 1, word: '' })
  expect(readMention('你好 @审')).toEqual({ from: 4, word: '审' })
})

test('an address, and a mention that was left behind, are none', () => {
  expect(readMention('ada@example')).toBeNull()
  expect(readMention('@rev and')).toBeNull()
})

test('a completed mention replaces what was typed, and what follows the cursor stays', () => {
  expect(completeMention('Hi @re, please', { from: 4, word: 're' }, 6, 'Deep Reviewer')).toEqual({
    text: 'Hi @Deep-Reviewer , please',
    cursor: 18,
  })
})

test('the newest members come first, then the profiles of which nobody is here', () => {
  const members = [makeAgent('old', { profile: 'here' }), makeAgent('new')]
  expect(getIds('', members, [makeProfile('here'), makeProfile('away')], true)).toEqual(['member new', 'member old', 'invite away'])
})

test('an agent whose profile is switched off or gone is not offered', () => {
  const members = [makeAgent('off', { profile: 'off' }), makeAgent('gone', { profile: 'gone' })]
  expect(getIds('', members, [makeProfile('off', { enabled: false, is_invitable: false })], true)).toEqual([])
})

test('nobody is offered to be invited to a person who may not invite', () => {
  expect(getIds('', [makeAgent('one')], [makeProfile('away')], false)).toEqual(['member one'])
})

test('a profile is found by its name and its shown name, a member by the shown name', () => {
  const members = [makeAgent('agt_1', { display_name: 'Reviewer' })]
  expect(getIds('VIEW', members, [makeProfile('reviewer-2', { display_name: 'Second' })], true)).toEqual([
    'member agt_1',
    'invite reviewer-2',
  ])
  expect(getIds('agt', members, [], true)).toEqual([])
})

test('at most seven are offered', () => {
  const many = Array.from({ length: 20 }, (_, at) => makeAgent(`a${at}`))
  expect(getIds('a', many, [], true)).toHaveLength(7)
})
