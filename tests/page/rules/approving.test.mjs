/** The rules by which nothing is approved by accident, without a browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { load } from './source.mjs'

const { SETTLE_MS, Settling } = await load('kit/settling.ts')
const { HOLD_MS, Hold } = await load('kit/hold.ts')
const { steady } = await load('kit/steadyRows.ts')
const { stepBefore } = await load('panels/inbox/approval.ts')

const press = (control, from, to = from, isPointer = true) => {
  control.begin(from)
  return control.end(to, isPointer)
}

test('a control takes input once it was about the same for long enough', () => {
  const control = new Settling('a', 0)
  assert.equal(press(control, SETTLE_MS - 1), 'early')
  assert.equal(press(control, SETTLE_MS), 'taken')
  control.setSubject('b', 1_000)
  assert.equal(press(control, 1_000 + SETTLE_MS - 1), 'early')
  assert.equal(press(control, 1_000 + SETTLE_MS), 'taken')
  assert.equal(control.setSubject('b', 2_000), false)
  assert.equal(press(control, 2_000), 'taken')
})

test('a press counts for what it went down on', () => {
  const control = new Settling('a', 0)
  control.begin(1_000)
  control.setSubject('b', 1_010)
  assert.equal(control.end(1_020, true), 'changed')
  control.begin(2_000)
  control.setSubject('c', 2_010)
  assert.equal(control.end(9_000, true), 'changed', 'however long it is held')
  assert.equal(control.end(9_000, true), 'changed', 'a pointer that went down elsewhere')
  assert.equal(control.end(9_000, false), 'taken', 'a screen reader has no pointer')
  control.begin(9_100)
  control.setSubject('d', 9_200)
  control.setSubject('c', 9_300)
  assert.equal(control.end(99_000, true), 'early', 'also when it is the same again, and however long ago')
})

test('a control that moved takes no input for a while, but one that was scrolled by hand does', () => {
  const control = new Settling('a', 0)
  const at = (y, scrolled = 0) => ({ x: 10, y, scrolled })
  control.setPlace(at(100), 1_000, false)
  assert.equal(press(control, 1_000), 'taken')
  assert.equal(control.setPlace(at(101), 1_050, false), false, 'less than can be seen')
  assert.equal(control.setPlace(at(102), 1_060, false), false)
  assert.equal(control.setPlace(at(103), 1_070, false), true, 'many small steps are a long way')
  assert.equal(press(control, 1_080), 'early')
  assert.equal(control.setPlace(at(53, 50), 3_000, true), false, 'the hand has scrolled')
  assert.equal(press(control, 3_010), 'taken')
  assert.equal(control.setPlace(at(3, 100), 3_100, false), true, 'the page has scrolled')
  assert.equal(control.setPlace(at(-47, 90), 5_000, true), true, 'it moved while the hand scrolled')
  assert.equal(control.setPlace({ x: 60, y: -47, scrolled: 90 }, 8_000, true), true, 'to the side')
})

test('a control takes no input for a while after something lay over it', () => {
  const control = new Settling('a', 0)
  assert.equal(control.setCovered(false, 1_000, false), false)
  assert.equal(control.setCovered(true, 1_100, false), false)
  assert.equal(control.setCovered(false, 2_000, false), true)
  assert.equal(press(control, 2_000 + SETTLE_MS - 1), 'early')
  assert.equal(press(control, 2_000 + SETTLE_MS), 'taken')
  control.setCovered(true, 3_000, true)
  assert.equal(control.setCovered(false, 3_100, true), false, 'the hand has scrolled it from under a heading')
  assert.equal(press(control, 3_110), 'taken')
})

test('the time counts from when a change was shown', () => {
  const control = new Settling('a', 0)
  control.setSubject('b', 1_000)
  control.hide()
  assert.equal(press(control, 9_000), 'early', 'nobody has seen it yet')
  control.show(9_500)
  assert.equal(press(control, 9_500 + SETTLE_MS - 1), 'early')
  assert.equal(press(control, 9_500 + SETTLE_MS), 'taken')
})

test('a short press does not pass for a long one because the page was busy', () => {
  const hold = new Hold(false, 0)
  assert.ok(hold.tick(16) < 0.1)
  assert.ok(hold.tick(5_000) < 0.2, 'five seconds in which nothing was drawn')
  let now = 5_000
  let ticks = 0
  for (; hold.tick((now += 16)) < 1; ticks++);
  assert.ok(ticks * 16 > HOLD_MS * 0.8)
})

const arrange = (shown, now, more = {}) =>
  steady(shown, now, { keyOf: (item) => item, holdsFresh: true, holdsOver: true, ...more })

test('a list that somebody is at keeps its rows, their order and their places', () => {
  assert.deepEqual(arrange(['a', 'b', 'c'], ['x', 'c', 'a']), { rows: ['a', 'b', 'c'], fresh: ['x'] })
  assert.deepEqual(arrange([], ['a', 'b']), { rows: ['a', 'b'], fresh: [] }, 'an empty one has none to keep')
  assert.deepEqual(arrange(['a'], []), { rows: ['a'], fresh: [] })
  assert.deepEqual(arrange(['a', 'b'], ['x', 'b'], { holdsOver: false }), { rows: ['b'], fresh: ['x'] })
})

test('a list that nobody is at is as it is, but for what is being looked at', () => {
  const alone = { holdsFresh: false, holdsOver: false }
  assert.deepEqual(arrange(['a', 'b', 'c'], ['x', 'c'], alone), { rows: ['x', 'c'], fresh: [] })
  assert.deepEqual(arrange(['a', 'b', 'c'], ['x', 'c'], { ...alone, kept: 'b' }), { rows: ['x', 'b', 'c'], fresh: [] })
  assert.deepEqual(arrange(['a', 'b'], [], { ...alone, kept: 'b' }), { rows: ['b'], fresh: [] })
})

test('what comes before an approval', () => {
  const ways = ['pointer', 'key', 'shortcut', 'held', 'held by key']
  const steps = (isHigh, hasWords) => ways.map((way) => stepBefore(way, isHigh, hasWords))
  assert.deepEqual(steps(false, false), ['none', 'none', 'none', 'none', 'none'])
  assert.deepEqual(steps(false, true), ['none', 'name', 'choose', 'none', 'name'])
  assert.deepEqual(steps(true, false), ['hold', 'name', 'name', 'none', 'none'])
  assert.deepEqual(steps(true, true), ['hold', 'name', 'choose', 'none', 'name'])
})
