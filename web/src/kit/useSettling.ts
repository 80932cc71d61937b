/** Settling for a control on the page: it watches what the control is about, and where it is. */
import { onScopeDispose, ref, watch, type Ref } from 'vue'

import { SETTLE_MS, Settling, type Outcome, type Place } from './settling'

const LOOK_MS = 100
const HAND_MS = 300
const FLING_MS = 3_000
const SCROLL_KEYS = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', 'Tab', ' '])

/** Scrolling by hand goes on for as long as what the hand began goes on; what scrolls longer than any fling is a script. */
let handAt = -Infinity
let scrolledAt = -Infinity
const isScrolling = () => performance.now() - scrolledAt < HAND_MS
const scrolls = () => (scrolledAt = handAt = performance.now())
const goesOn = () => isScrolling() && performance.now() - handAt < FLING_MS && (scrolledAt = performance.now())
addEventListener('wheel', scrolls, { capture: true, passive: true })
addEventListener('touchmove', scrolls, { capture: true, passive: true })
addEventListener('keydown', (event) => SCROLL_KEYS.has(event.key) && scrolls(), { capture: true })
addEventListener('scroll', goesOn, { capture: true, passive: true })

let pointer = { x: -1, y: -1 }
const points = ({ clientX: x, clientY: y }: PointerEvent) => (pointer = { x, y })
for (const type of ['pointermove', 'pointerdown'] as const) addEventListener(type, points, { capture: true, passive: true })

const looks = new Set<() => void>()
setInterval(() => looks.forEach((look) => look()), LOOK_MS)

function placeOf(element: HTMLElement): Place {
  const { x, y } = element.getBoundingClientRect()
  let scrolled = 0
  for (let at = element.parentElement; at; at = at.parentElement) scrolled += at.scrollTop
  return { x, y, scrolled }
}

/** Whether something lies over an element: over its middle, or between it and the pointer. */
function isCovered(element: HTMLElement): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const isPointed = pointer.x >= left && pointer.x <= right && pointer.y >= top && pointer.y <= bottom
  return [{ x: (left + right) / 2, y: (top + bottom) / 2 }, ...(isPointed ? [pointer] : [])].some(({ x, y }) => {
    const over = document.elementFromPoint(x, y)
    return !!over && !over.contains(element) && !element.contains(over)
  })
}

/** When something was pressed: a busy page hears of it late, and shows later still what it was meant for. */
const timeOf = (event?: Event) => Math.min(event?.timeStamp ?? Infinity, performance.now())

export interface Guard {
  /** Whether it takes no input just now. */
  isSettling: Ref<boolean>
  isSettled: (event?: Event) => boolean
  changedAt: () => number
  begin: (event?: Event) => void
  end: (isPointer: boolean, event?: Event) => Outcome
}

/** A guard for what is about `subject`; with an element, also for where that is. What opens at a person's wish, such as a
 *  menu, is as settled as the guard of what it belongs to. */
export function useSettling(subject: () => string, element?: Ref<HTMLElement | null>, owner?: Guard): Guard {
  const state = new Settling(subject(), owner?.changedAt() ?? performance.now())
  const isSettling = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  let frame = 0
  /** The time counts from when the change is on the screen: at the second frame the first one is. */
  function wait(): void {
    isSettling.value = true
    state.hide()
    stop()
    frame = requestAnimationFrame(() => (frame = requestAnimationFrame(show)))
  }
  function show(): void {
    state.show(performance.now())
    timer = setTimeout(() => (isSettling.value = false), SETTLE_MS + 1)
  }
  function stop(): void {
    clearTimeout(timer)
    cancelAnimationFrame(frame)
  }
  function look(): void {
    if (!element?.value) return
    const [now, byHand] = [performance.now(), isScrolling()]
    const hasMoved = state.setPlace(placeOf(element.value), now, byHand)
    if (state.setCovered(isCovered(element.value), now, byHand) || hasMoved) wait()
  }
  if (!state.isSettled(performance.now())) wait()
  watch(subject, (now) => state.setSubject(now, performance.now()) && wait(), { flush: 'sync' })
  if (element) looks.add(look)
  onScopeDispose(() => {
    stop()
    looks.delete(look)
  })
  return {
    isSettling,
    changedAt: () => state.changedAt,
    isSettled: (event) => (look(), state.isSettled(timeOf(event))),
    begin: (event) => (look(), state.begin(timeOf(event))),
    end: (isPointer, event) => (look(), state.end(timeOf(event), isPointer)),
  }
}
