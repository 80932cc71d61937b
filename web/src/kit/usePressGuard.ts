/** Settling for a control on the page: it watches what the control is about, where it is, and where the pointer is. */
import { onScopeDispose, ref, watch, type Ref } from 'vue'

import { isInWordOnButton } from '@/browser/keys'
import { SETTLE_MS, PressGuard, type Hand, type PressOutcome, type Place, type Point } from './pressGuard'

const LOOK_MS = 100
const HAND_MS = 300
const FLING_MS = 3_000
const EDGE_PX = 4
const SCROLL_KEYS = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', 'Tab', ' '])

/** Scrolling by hand is what the page scrolls once the hand has begun it, and goes on for as long as that goes on; what scrolls
 *  longer than any fling is a script. A key that scrolls nothing, such as Space on a button, is a press. */
let handAt = -Infinity
let scrolledAt = -Infinity
const isScrolling = () => performance.now() - scrolledAt < HAND_MS
const begins = () => (handAt = performance.now())
function scrolls(): void {
  const sinceHand = performance.now() - handAt
  if (sinceHand < HAND_MS || (isScrolling() && sinceHand < FLING_MS)) scrolledAt = performance.now()
}
addEventListener('wheel', begins, { capture: true, passive: true })
addEventListener('touchmove', begins, { capture: true, passive: true })
/** Whoever presses something has done with scrolling: what comes up then comes up by that press. */
const ends = () => (handAt = scrolledAt = -Infinity)
addEventListener('keydown', (event) => (SCROLL_KEYS.has(event.key) ? begins() : ends()), { capture: true })
addEventListener('pointerup', ends, { capture: true, passive: true })
addEventListener('scroll', scrolls, { capture: true, passive: true })
visualViewport?.addEventListener('scroll', scrolls, { passive: true })

/** Where the pointer was last, be it a mouse or a finger. Nobody knows before it is first heard of, nor while it is over
 *  something else than the page. */
let pointer: Point | null = null
let pointerOnScreen: Point = { x: NaN, y: NaN }
let hand: Hand = 'mouse'
export const isTouchInput = (): boolean => hand === 'touch'
const states = new Set<PressGuard>()
function point({ pointerType, clientX: x, clientY: y, screenX, screenY }: PointerEvent): void {
  // The mouse is where it was, but not on the page: the page has moved, and may hear of that later than of the mouse.
  const isStill = pointerType === 'mouse' && screenX === pointerOnScreen.x && screenY === pointerOnScreen.y
  if (isStill && pointer && (x !== pointer.x || y !== pointer.y)) shiftPage()
  pointer = { x, y }
  pointerOnScreen = { x: screenX, y: screenY }
  hand = pointerType === 'mouse' ? 'mouse' : 'touch' // a pen is seen when it is near, as a finger is
  for (const state of states) state.movePointer(pointer, hand)
}
/** A mouse moves on unseen, over another window; a finger does not. */
function losePointer(): void {
  if (isTouchInput()) return
  pointer = null
  for (const state of states) state.setRest('unseen')
}
document.documentElement.addEventListener('pointerleave', losePointer)
for (const type of ['pointermove', 'pointerdown'] as const) addEventListener(type, point, { capture: true, passive: true })

/** What waits again when the person goes to another window or tab, and when they come back. */
const leaves = new Set<() => void>()
function leave(): void {
  if (!document.hasFocus() || document.hidden) losePointer()
  leaves.forEach((one) => one())
}
for (const type of ['focus', 'blur']) addEventListener(type, leave)
addEventListener('pageshow', (event) => event.persisted && leave())
document.addEventListener('visibilitychange', leave)
/** Whether a click would bring the window to the front first: it may have been meant for that alone. */
const isBehind = () => !isTouchInput() && !document.hasFocus()

/** Where the page is on the screen and how large it is drawn, as far as a page can know that. A window that moves, a bar of the
 *  browser that comes or goes and a zoom carry every control along, though none of them moves within the page. */
const readFrame = () =>
  [screenX, screenY, outerWidth - innerWidth, outerHeight - innerHeight, devicePixelRatio, visualViewport?.scale].join(' ')
let pageFrame = readFrame()
const shifts = new Set<() => void>()
function lookAtFrame(): void {
  const before = pageFrame
  pageFrame = readFrame()
  // A phone's address bar comes and goes with the hand that scrolls.
  if (before !== pageFrame && !(isTouchInput() && isScrolling())) shiftPage()
}
function shiftPage(): void {
  losePointer() // the mouse may be over something else now without having moved
  shifts.forEach((shift) => shift())
}

const looks = new Set<() => void>()
setInterval(() => looks.forEach((look) => look()), LOOK_MS)

/** The place as it is seen: a phone moves what is seen of the page when its keyboard comes up. */
function placeOf(element: HTMLElement): Place {
  const { x, y, width } = element.getBoundingClientRect()
  const seen = { x: visualViewport?.offsetLeft ?? 0, y: visualViewport?.offsetTop ?? 0 }
  const scrolled = { ...seen }
  for (let at = element.parentElement; at; at = at.parentElement) {
    scrolled.x += at.scrollLeft
    scrolled.y += at.scrollTop
  }
  return { x: x - seen.x, y: y - seen.y, width, scrolled }
}

export function isOver(element: HTMLElement, { x, y }: Point, edge = 0): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return x >= left - edge && x <= right + edge && y >= top - edge && y <= bottom + edge
}

/** Whether something lies over an element: over its middle, or between it and the pointer. */
function isCovered(element: HTMLElement): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const points = [{ x: (left + right) / 2, y: (top + bottom) / 2 }, ...(pointer && isOver(element, pointer) ? [pointer] : [])]
  return points.some(({ x, y }) => {
    const over = document.elementFromPoint(x, y)
    return !!over && !over.contains(element) && !element.contains(over)
  })
}

/** When something was pressed: a busy page hears of it late, and shows later still what it was meant for. */
const timeOf = (event?: Event) => Math.min(event?.timeStamp ?? Infinity, performance.now())

export interface Guard {
  /** Whether it takes no input just now. */
  isSettling: Ref<boolean>
  changedAt: () => number
  begin: (isPointer: boolean, event?: Event) => PressOutcome
  end: (isPointer: boolean, event?: Event) => PressOutcome
  /** A press was not taken: whoever goes on pressing waits as long again. */
  drop: () => void
}

/** A guard for what is about `subject`; with an element, also for where that is. What opens at a person's wish, such as a
 *  menu, is as settled as the guard of what it belongs to. */
export function usePressGuard(subject: () => string, element?: Ref<HTMLElement | null>, owner?: Guard): Guard {
  const state = new PressGuard(subject(), owner?.changedAt() ?? performance.now())
  const isSettling = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let frame = 0
  let hasChanged = false
  if (owner) state.setRest(pointer ?? 'unseen')
  /** The pointer, if the control has come under it. What the hand scrolls under it is meant. */
  function restOf(): Point | 'unseen' | null {
    if (!element?.value || isScrolling()) return null
    return !pointer ? 'unseen' : isOver(element.value, pointer, EDGE_PX) ? pointer : null
  }
  /** The time counts from when the change is on the screen: at the second frame the first one is. */
  function wait(): void {
    isSettling.value = true
    state.hide()
    stop()
    frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        if (element?.value) hasChanged = state.setPlace(placeOf(element.value), performance.now(), isScrolling()) || hasChanged
        if (hasChanged) state.setRest(restOf())
        hasChanged = false
        state.show(performance.now())
        timer = setTimeout(() => (isSettling.value = false), SETTLE_MS + 1)
      })
    })
  }
  function change(): void {
    hasChanged = true
    wait()
  }
  function stop(): void {
    clearTimeout(timer)
    cancelAnimationFrame(frame)
  }
  function look(): void {
    if (!element?.value) return
    lookAtFrame()
    const [now, byHand] = [performance.now(), isScrolling()]
    const hasMoved = state.setPlace(placeOf(element.value), now, byHand)
    if (state.setCovered(isCovered(element.value), now, byHand) || hasMoved) change()
  }
  function leaveHere(): void {
    state.leave()
    wait()
  }
  if (!state.isSettled(performance.now())) change()
  leaves.add(leaveHere)
  watch(subject, (now) => state.setSubject(now, performance.now()) && change(), { flush: 'sync' })
  if (element) {
    looks.add(look)
    shifts.add(change)
    states.add(state)
  }
  onScopeDispose(() => {
    stop()
    leaves.delete(leaveHere)
    looks.delete(look)
    shifts.delete(change)
    states.delete(state)
  })
  return {
    isSettling,
    changedAt: () => state.changedAt,
    begin: (isPointer, event) => {
      look()
      if (isPointer && isBehind()) leaveHere()
      return state.begin(timeOf(event), isPointer, event instanceof KeyboardEvent && isInWordOnButton(event))
    },
    end: (isPointer, event) => (look(), state.end(timeOf(event), isPointer)),
    drop: () => {
      if (isTouchInput()) {
        // A finger cannot move to where it is: its next press is a new one. The mouse can, and has to.
        hasChanged = false
        state.setRest(null)
      }
      wait()
    },
  }
}
