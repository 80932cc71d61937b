import { describe, expect, test } from 'vitest'

import { PressGuard, SCROLL_MS, SETTLE_MS, type Place } from './pressGuard'

const place = (x: number, y: number, scrolledY = 0): Place => ({ x, y, width: 80, scrolled: { x: 0, y: scrolledY } })
const LATER = 10 * SETTLE_MS

function press(guard: PressGuard, at: number, isPointer = true): string {
  guard.begin(at, isPointer)
  return guard.end(at + 50, isPointer)
}

describe('a control that has just come up', () => {
  test('takes no press before it has settled', () => {
    const guard = new PressGuard('ask 1', 0)
    expect(press(guard, SETTLE_MS - 1)).toBe('early')
    expect(press(guard, SETTLE_MS)).toBe('taken')
  })

  test('takes no press while nobody can have seen it', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.hide()
    expect(press(guard, LATER)).toBe('early')
    guard.show(LATER)
    expect(press(guard, LATER + SETTLE_MS)).toBe('taken')
  })

  test('says so when the person has only come back to the page', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.leave()
    guard.show(LATER)
    expect(press(guard, LATER + 1)).toBe('returned')
    expect(press(guard, LATER + SETTLE_MS)).toBe('taken')
  })
})

describe('a subject', () => {
  test('that changes begins the time again', () => {
    const guard = new PressGuard('ask 1', 0)
    expect(guard.setSubject('ask 1', LATER)).toBe(false)
    expect(guard.setSubject('ask 2', LATER)).toBe(true)
    expect(press(guard, LATER + 1)).toBe('early')
  })

  test('that changes during a press takes that press away', () => {
    const guard = new PressGuard('ask 1', 0)
    expect(guard.begin(LATER, true)).toBe('taken')
    guard.setSubject('ask 2', LATER + 1)
    expect(guard.end(LATER + 2, true)).toBe('changed')
  })

  test('is not meant by a pointer that went down elsewhere', () => {
    expect(new PressGuard('ask 1', 0).end(LATER, true)).toBe('changed')
    expect(new PressGuard('ask 1', 0).end(LATER, false)).toBe('taken')
  })
})

describe('a place', () => {
  test('may tremble, and counts as moved when many small steps make a long way', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.setPlace(place(0, 0), LATER, false)
    expect([1, 2, 3].map((y) => guard.setPlace(place(0, y), LATER, false))).toEqual([false, false, true])
    expect(press(guard, LATER + 1)).toBe('early')
  })

  test('that the person scrolls has not moved by itself', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.setPlace(place(0, 100), LATER, false)
    expect(guard.setPlace(place(0, 40, 60), LATER, true)).toBe(false)
    expect(press(guard, LATER + 1)).toBe('scrolling')
    expect(press(guard, LATER + SCROLL_MS)).toBe('taken')
  })

  test('that something lay over begins the time again, unless it was scrolled away', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.setCovered(true, LATER, false)
    expect(press(guard, LATER, false)).toBe('early')
    expect(guard.setCovered(false, LATER, true)).toBe(false)
    guard.setCovered(true, LATER, false)
    expect(guard.setCovered(false, LATER, false)).toBe(true)
  })
})

describe('a pointer that rests where the control came up', () => {
  test('presses nothing until it has moved on purpose', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.setRest({ x: 10, y: 10 })
    guard.movePointer({ x: 14, y: 10 }, 'mouse')
    expect(press(guard, LATER)).toBe('resting')
    guard.movePointer({ x: 18, y: 10 }, 'mouse')
    expect(press(guard, LATER)).toBe('taken')
  })

  test('has to go further when it is a finger', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.setRest({ x: 10, y: 10 })
    guard.movePointer({ x: 30, y: 10 }, 'touch')
    expect(press(guard, LATER)).toBe('resting')
    guard.movePointer({ x: 34, y: 10 }, 'touch')
    expect(press(guard, LATER)).toBe('taken')
  })

  test('rests where a mouse is first heard of again, and does not keep a key from it', () => {
    const guard = new PressGuard('ask 1', 0)
    guard.setRest('unseen')
    guard.movePointer({ x: 5, y: 5 }, 'mouse')
    expect(press(guard, LATER)).toBe('resting')
    expect(press(guard, LATER, false)).toBe('taken')
  })
})
