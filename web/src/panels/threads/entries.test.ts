import { expect, test } from 'vitest'

import type { Ask, Member, Message } from '@/api/rows'
import { findFurthestState, isJoined, mergeEntries, startsDay, type Entry } from './entries'

const NOON = new Date(2026, 4, 4, 12).getTime()
const MINUTE = 60_000
const makeMessage = (id: string, at: number, more: Partial<Message> = {}) =>
  ({ id, seq: 3, author_id: 'ada', role: 'user', content: id, created_at: at, ...more }) as Message
const makeEntry = (at: number, more: Partial<Message> = {}): Entry => {
  const message = makeMessage(`m${at}`, at, more)
  return { key: message.id, at, kind: 'message', message }
}
const makeCard = (key: string, at: number): Entry => ({ key, at, kind: 'ask', ask: {} as Ask })
const getKeys = (entries: Entry[]) => entries.map((one) => one.key)

test('cards stand between the messages by their time', () => {
  const merged = mergeEntries([makeMessage('a', 10), makeMessage('b', 30)], [makeCard('x', 5), makeCard('y', 20), makeCard('z', 40)], false)
  expect(getKeys(merged)).toEqual(['x', 'a', 'y', 'b', 'z'])
})

test('a card from before the oldest loaded message waits until its time is loaded', () => {
  expect(getKeys(mergeEntries([makeMessage('a', 10)], [makeCard('x', 5), makeCard('y', 20)], true))).toEqual(['a', 'y'])
})

test('a message stays the same entry when the list is put together again', () => {
  const message = makeMessage('a', 10)
  expect(mergeEntries([message], [], false)[0]).toBe(mergeEntries([message], [makeCard('x', 5)], false)[1])
})

test('a day begins with its first entry, of whatever kind', () => {
  expect(startsDay(makeEntry(NOON), undefined)).toBe(true)
  expect(startsDay(makeEntry(NOON), makeCard('x', NOON - MINUTE))).toBe(false)
  expect(startsDay(makeEntry(NOON), makeCard('x', NOON - 24 * 60 * MINUTE))).toBe(true)
})

test('messages of one author within five minutes stand together', () => {
  expect(isJoined(makeEntry(NOON), makeEntry(NOON - 4 * MINUTE))).toBe(true)
  expect(isJoined(makeEntry(NOON), makeEntry(NOON - 5 * MINUTE))).toBe(false)
  expect(isJoined(makeEntry(NOON), makeEntry(NOON - MINUTE, { author_id: 'ben' }))).toBe(false)
  expect(isJoined(makeEntry(NOON), makeEntry(NOON - MINUTE, { role: 'system' }))).toBe(false)
})

test('a reply, the first message of a day and one below a card keep their name', () => {
  const midnight = new Date(2026, 4, 4).getTime()
  expect(isJoined(makeEntry(NOON, { reply_to: 'm1' }), makeEntry(NOON - MINUTE))).toBe(false)
  expect(isJoined(makeEntry(midnight + MINUTE), makeEntry(midnight - MINUTE))).toBe(false)
  expect(isJoined(makeEntry(NOON), makeCard('x', NOON - MINUTE))).toBe(false)
})

test('a message has come as far as with whom it reached furthest', () => {
  const isMe = (id: string) => id === 'ada'
  const find = (...others: Partial<Member>[]) =>
    findFurthestState(
      makeMessage('a', NOON),
      [{ member_id: 'ada', acted: 9 } as Member, ...others.map((one) => ({ member_id: 'bot', ...one }) as Member)],
      isMe,
    )
  expect(find({ delivered: 3 }, { seen: 3, delivered: 3 })).toBe('seen')
  expect(find({ delivered: 2 })).toBe('queued')
  expect(find({ acted: 4 })).toBe('acted')
  expect(find()).toBe('')
  expect(findFurthestState(makeMessage('a', NOON, { author_id: 'bot', agent: true }), [], isMe)).toBe('')
})
