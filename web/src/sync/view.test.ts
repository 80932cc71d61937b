import { expect, test } from 'vitest'

import type { RowFrame } from './frames'
import { View } from './view'

const row = (key: string, value: unknown = { id: key }): RowFrame => ({ table: 'thread', key, row: value })
const snapshot = (seq: number, ...rows: RowFrame[]) => ({ op: 'snapshot' as const, id: 1, seq, more: false, rows })
const changes = (seq: number, ...rows: RowFrame[]) => ({ op: 'changes' as const, view: 'threads', seq, rows })
const keysOf = (view: View) => [...view.rows('thread').keys()]

test('a snapshot replaces what is held', () => {
  const view = new View('threads', undefined, undefined)
  view.reset(snapshot(3, row('a'), row('b')))
  view.reset(snapshot(7, row('b'), row('c')))
  expect(keysOf(view)).toEqual(['b', 'c'])
  expect(view.state).toEqual({ ready: true, more: false, seq: 7, error: null })
})

test('changes put rows and drop them', () => {
  const view = new View('threads', undefined, undefined)
  view.reset(snapshot(3, row('a'), row('b')))
  view.apply(changes(4, row('a', null), row('b', { id: 'b', topic: 'new' })))
  expect(keysOf(view)).toEqual(['b'])
  expect(view.rows('thread').get('b')).toEqual({ id: 'b', topic: 'new' })
  expect(view.state.seq).toBe(4)
})

test('nobody who reads a row can change it', () => {
  const view = new View('threads', undefined, undefined)
  view.reset(snapshot(1, row('a')))
  expect(Object.isFrozen(view.rows('thread').get('a'))).toBe(true)
})

test('a view of one thing ends with that thing', () => {
  const view = new View('thread', 'a', undefined)
  view.reset(snapshot(1, row('a'), row('b')))
  view.apply(changes(2, row('b', null)))
  expect(view.state.error).toBeNull()
  view.apply(changes(3, row('a', null)))
  expect(view.state.error).toBe('gone')
  expect(keysOf(view)).toEqual([])
})

test('of what a run says only the newest is held', () => {
  const view = new View('run', 'r', undefined)
  const items = Array.from({ length: 4001 }, (_, at): RowFrame => ({ table: 'item', key: String(at), row: { at } }))
  view.apply(changes(1, ...items))
  expect(view.rows('item').size).toBe(3000)
  expect([...view.rows('item').keys()].at(-1)).toBe('4000')
  expect(view.state.more).toBe(true)
})
