// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { effectScope, type EffectScope } from 'vue'

import { formatKeyParts, isInWord, onSingleKey, useKeys, type Binding } from './keys'

let scope: EffectScope
let done: string[]

beforeEach(() => {
  vi.useFakeTimers()
  vi.advanceTimersByTime(10_000)
  scope = effectScope()
  done = []
  document.body.innerHTML = '<input id="field"><main></main>'
})
afterEach(() => {
  scope.stop()
  document.body.innerHTML = ''
  vi.useRealTimers()
})

const bind = (...list: (Partial<Binding> & { key: string })[]) =>
  scope.run(() => useKeys(list.map((one) => ({ says: one.key, run: () => void done.push(one.says ?? one.key), ...one }))))

function press(key: string, more: KeyboardEventInit = {}, target: Element = document.body): KeyboardEvent {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
  target.dispatchEvent(event)
  return event
}
const field = () => document.querySelector<HTMLInputElement>('#field')!

test('the newest binding of a key wins, and the older one is back when it has gone', () => {
  bind({ key: 'y', says: 'old' })
  const inner = effectScope()
  inner.run(() => useKeys([{ key: 'y', says: 'new', run: () => void done.push('new') }]))
  press('y')
  inner.stop()
  press('y')
  expect(done).toEqual(['new', 'old'])
})

test('a key that is held down repeats only what moves about', () => {
  bind({ key: 'y' }, { key: 'j', moves: true })
  for (const key of ['y', 'j']) for (const repeat of [false, true]) press(key, { repeat })
  expect(done).toEqual(['y', 'j', 'j'])
})

test('nothing happens while somebody types, save what is to happen always', () => {
  bind({ key: 'y' }, { key: 'ctrl+k', always: true })
  press('y', {}, field())
  press('k', { ctrlKey: true }, field())
  expect(done).toEqual(['ctrl+k'])
})

test('what is typed on after the field has gone is no key', () => {
  bind({ key: 'y' })
  press('a', {}, field())
  field().remove()
  press('y')
  vi.advanceTimersByTime(1_000)
  press('y')
  expect(done).toEqual([])
  vi.advanceTimersByTime(2_000)
  press('y')
  expect(done).toEqual(['y'])
})

test('a dialog keeps the keys from what it covers', () => {
  bind({ key: 'y' }, { key: '?', above: true })
  document.body.insertAdjacentHTML('beforeend', '<div class="q-dialog--modal"></div>')
  press('y')
  press('?')
  expect(done).toEqual(['?'])
})

test('two keys in a row mean one thing, and the second by itself nothing', () => {
  bind({ key: 'g i' })
  press('i')
  press('g')
  press('i')
  vi.advanceTimersByTime(1_000)
  press('g')
  vi.advanceTimersByTime(1_000)
  press('i')
  expect(done).toEqual(['g i'])
})

test('a key that cannot be used now is left to the browser', () => {
  bind({ key: 'y', can: () => false })
  expect(press('y').defaultPrevented).toBe(false)
  expect(done).toEqual([])
})

test('letters in quick succession are a word', () => {
  const pressAt = (key: string, at: number): boolean => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true })
    Object.defineProperty(event, 'timeStamp', { value: at })
    document.body.dispatchEvent(event)
    return isInWord(event)
  }
  const start = Number.MAX_SAFE_INTEGER / 2
  expect([0, 300, 2_000].map((after) => pressAt('n', start + after))).toEqual([false, true, false])
})

test('a letter is single when nothing follows, or only a key that moves about', () => {
  bind({ key: 'j', moves: true })
  const heard: boolean[] = []
  const listen = () => onSingleKey((isAlone) => heard.push(isAlone))
  listen()
  vi.advanceTimersByTime(600)
  listen()
  press('j')
  listen()
  press('o')
  expect(heard).toEqual([true, true, false])
})

test('keys are shown as they are on the keyboard', () => {
  expect(formatKeyParts('shift+a')).toEqual(['⇧', 'A'])
  expect(formatKeyParts('g i')).toEqual(['G', 'I'])
  expect(formatKeyParts('Escape')).toEqual(['Esc'])
})
