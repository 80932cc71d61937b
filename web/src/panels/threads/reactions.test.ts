// @vitest-environment jsdom

import { expect, test } from 'vitest'

import type { Message } from '@/api/rows'
import { groupReactions } from './reactions'

test('a sign stands once, with all who have given it, where it was first given', () => {
  const given = [
    ['👍', 'ada'],
    ['✅', 'ben'],
    ['👍', 'ben'],
  ] as const
  const message = { reactions: given.map(([reaction, agent_id]) => ({ reaction, agent_id, at: 0 })) } as unknown as Message
  expect(groupReactions(message)).toEqual([
    ['👍', ['ada', 'ben']],
    ['✅', ['ben']],
  ])
  expect(groupReactions({} as Message)).toEqual([])
})
