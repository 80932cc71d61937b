/** The rules by which nothing is approved by accident, without a browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { load } from './source.mjs'

const { SCROLL_MS, SETTLE_MS, PressGuard } = await load('kit/pressGuard.ts')
const { HOLD_MS, LongPress } = await load('kit/longPress.ts')
const { arrangeSteadyRows } = await load('kit/steadyRows.ts')
const { getCallLine } = await load('kit/asks/callText.ts')

const press = (control, from, to = from, isPointer = true) => {
  control.begin(from, isPointer)
  return control.end(to, isPointer)
}

test('a control takes input once it was about the same for long enough', () => {
  const control = new PressGuard('a', 0)
  assert.equal(press(control, SETTLE_MS - 1), 'early')
  assert.equal(press(control, SETTLE_MS), 'taken')
  control.setSubject('b', 1_000)
  assert.equal(press(control, 1_000 + SETTLE_MS - 1), 'early')
  assert.equal(press(control, 1_000 + SETTLE_MS), 'taken')
  assert.equal(control.setSubject('b', 2_000), false)
  assert.equal(press(control, 2_000), 'taken')
})

test('a control takes no input while the person comes back from another window', () => {
  const control = new PressGuard('a', 0)
  control.begin(1_000, true)
  control.leave()
  assert.equal(control.end(1_100, true), 'returned', 'it went down before they left')
  assert.equal(press(control, 9_000), 'returned', 'nobody has seen it yet')
  control.show(9_000)
  assert.equal(press(control, 9_000 + SETTLE_MS - 1, 9_000 + SETTLE_MS, false), 'returned')
  assert.equal(press(control, 9_000 + SETTLE_MS), 'taken')
  control.setSubject('b', 10_000)
  assert.equal(press(control, 10_001), 'early', 'it has changed since')
})

test('a press counts for what it went down on', () => {
  const control = new PressGuard('a', 0)
  control.begin(1_000, true)
  control.setSubject('b', 1_010)
  assert.equal(control.end(1_020, true), 'changed')
  control.begin(2_000, true)
  control.setSubject('c', 2_010)
  assert.equal(control.end(9_000, true), 'changed', 'however long it is held')
  assert.equal(control.end(9_000, true), 'changed', 'a pointer that went down elsewhere')
  assert.equal(control.end(9_000, false), 'taken', 'a screen reader has no pointer')
  control.begin(9_100, true)
  control.setSubject('d', 9_200)
  control.setSubject('c', 9_300)
  assert.equal(control.end(99_000, true), 'early', 'also when it is the same again, and however long ago')
})

test('a control that moved takes no input for a while, but one that was scrolled by hand does', () => {
  const control = new PressGuard('a', 0)
  const at = (y, scrolled = 0, more = {}) => ({ x: 10, y, width: 80, scrolled: { x: 0, y: scrolled }, ...more })
  control.setPlace(at(100), 1_000, false)
  assert.equal(press(control, 1_000), 'taken')
  assert.equal(control.setPlace(at(101), 1_050, false), false, 'less than can be seen')
  assert.equal(control.setPlace(at(102), 1_060, false), false)
  assert.equal(control.setPlace(at(103), 1_070, false), true, 'many small steps are a long way')
  assert.equal(press(control, 1_080), 'early')
  assert.equal(control.setPlace(at(53, 50), 3_000, true), false, 'the hand has scrolled')
  assert.equal(press(control, 3_010), 'scrolling', 'but nobody can have aimed at it yet')
  assert.equal(press(control, 3_010, 3_020, false), 'taken', 'a key does not aim')
  assert.equal(press(control, 3_000 + SCROLL_MS), 'taken')
  assert.equal(control.setPlace(at(3, 100), 3_500, false), true, 'the page has scrolled')
  assert.equal(control.setPlace(at(-47, 90), 5_000, true), true, 'it moved while the hand scrolled')
  assert.equal(control.setPlace(at(-47, 90, { x: 60 }), 8_000, true), true, 'to the side')
  assert.equal(control.setPlace(at(-47, 90, { x: 60, width: 120 }), 10_000, false), true, 'it has grown')
})

test('a control that comes up under a pointer takes no press until the pointer has moved', () => {
  const control = new PressGuard('a', 0)
  const rest = { x: 50, y: 50 }
  control.show(1_000)
  control.setRest(rest)
  assert.equal(press(control, 60_000), 'resting', 'however long ago')
  control.movePointer({ x: 52, y: 53 }, 'mouse')
  control.movePointer(rest, 'mouse')
  assert.equal(press(control, 60_000), 'resting', 'a hand trembles')
  assert.equal(press(control, 60_000, 60_010, false), 'taken', 'a key needs no pointer')
  control.movePointer({ x: 50, y: 60 }, 'mouse')
  control.movePointer(rest, 'mouse')
  assert.equal(press(control, 60_000), 'taken', 'it went away and came back')
  control.show(70_000)
  control.setRest(rest)
  control.movePointer({ x: 60, y: 60 }, 'touch')
  assert.equal(press(control, 80_000), 'resting', 'a finger meets no point twice')
  control.movePointer({ x: 90, y: 60 }, 'touch')
  assert.equal(press(control, 80_000), 'taken')
})

test('a mouse that was never seen to move rests, and a finger does not', () => {
  const control = new PressGuard('a', 0)
  control.setRest('unseen')
  control.movePointer({ x: 50, y: 50 }, 'mouse')
  assert.equal(press(control, 9_000), 'resting', 'what is heard first only tells where it is')
  control.movePointer({ x: 51, y: 50 }, 'mouse')
  assert.equal(press(control, 9_000), 'resting', 'a hand trembles')
  control.movePointer({ x: 60, y: 50 }, 'mouse')
  assert.equal(press(control, 9_000), 'taken')
  control.setRest('unseen')
  control.movePointer({ x: 50, y: 50 }, 'touch')
  assert.equal(press(control, 20_000), 'taken')
})

test('a key does not press what lies below something', () => {
  const control = new PressGuard('a', 0)
  control.setCovered(true, 1_000, false)
  assert.equal(press(control, 9_000, 9_010, false), 'early')
  assert.equal(control.setCovered(false, 9_020, false), true)
  assert.equal(press(control, 9_030, 9_040, false), 'early', 'what covered it has only just gone')
  assert.equal(press(control, 9_020 + SETTLE_MS, 9_800, false), 'taken')
})

test('what the hand has scrolled under the pointer was meant', () => {
  const control = new PressGuard('a', 0)
  const at = (y, scrolled) => ({ x: 10, y, width: 80, scrolled: { x: 0, y: scrolled } })
  control.setPlace(at(50, 0), 100, false)
  control.setRest({ x: 20, y: 60 })
  control.setPlace(at(20, 30), 2_000, true)
  assert.equal(press(control, 2_000 + SCROLL_MS), 'taken')
})

test('a control takes no input for a while after something lay over it', () => {
  const control = new PressGuard('a', 0)
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
  const control = new PressGuard('a', 0)
  control.setSubject('b', 1_000)
  control.hide()
  assert.equal(press(control, 9_000), 'early', 'nobody has seen it yet')
  control.show(9_500)
  assert.equal(press(control, 9_500 + SETTLE_MS - 1), 'early')
  assert.equal(press(control, 9_500 + SETTLE_MS), 'taken')
})

test('a short press does not pass for a long one because the page was busy', () => {
  const hold = new LongPress(false, 0)
  assert.ok(hold.tick(16) < 0.1)
  assert.ok(hold.tick(5_000) < 0.2, 'five seconds in which nothing was drawn')
  let now = 5_000
  let ticks = 0
  for (; hold.tick((now += 16)) < 1; ticks++);
  assert.ok(ticks * 16 > HOLD_MS * 0.8)
})

const arrange = (shown, now, more = {}) =>
  arrangeSteadyRows(shown, now, { keyOf: (item) => item, holdsFresh: true, holdsOver: true, ...more })

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

test('a list approves only what it can show to its end', () => {
  const call = (given, more = {}) => getCallLine({ subject: { tool: 'Bash', arguments: given }, ...more }, 'Bash: x', '')
  assert.equal(call({ command: 'make d' }), 'make d')
  assert.equal(call({ command: 'make d', timeout: 600 }), 'make d · timeout: 600', 'no argument hides behind another')
  assert.equal(call({ command: 'make d', cmd: 'rm -rf /' }), 'make d · cmd: rm -rf /')
  assert.equal(call({ command: `make ${'x'.repeat(300)}` }), null)
  assert.equal(call({ command: 'make d\nrm -rf /' }), null)
  assert.equal(call({ command: 'make d', env: { PATH: '/evil' } }), null)
  assert.equal(call({ path: 'a.txt', content: 'b' }), null, 'a change is read as one')
  assert.equal(call('make d'), null)
  assert.equal(call({ url: 'https://a.test' }), 'Bash · url: https://a.test')
  assert.equal(getCallLine({}, 'Ship it?', ''), 'Ship it?')
  assert.equal(getCallLine({}, 'Ship it?', 'and delete the rest'), null)
  assert.equal(getCallLine({ form: {} }, 'Ship it?', ''), null)
  assert.equal(getCallLine({ labels: { reach: 'run', like: 'writing' } }, 'Write a', ''), null, 'a yes would allow more than this')
  assert.equal(getCallLine({}, 'x'.repeat(201), ''), null)
})
