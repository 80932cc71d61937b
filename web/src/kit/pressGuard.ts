/** When a control may take input: once it has stood still, about the same subject, for a while. Whoever aims at something
 *  that has just moved or changed means what was there before; and so does a pointer that rests where something else has
 *  come up since. Knows no DOM: it is told the time, the subject, the place and the pointer. */

export const SETTLE_MS = 700
/** After the hand has scrolled a control, a pointer cannot have aimed at it sooner. */
export const SCROLL_MS = 300
const STILL_PX = 2
/** How far a pointer goes that is meant to go: a hand that rests trembles, and a finger never meets the same point twice. */
const MOVED_PX = { mouse: 8, touch: 24 }

export interface Point {
  x: number
  y: number
}
export type Hand = keyof typeof MOVED_PX

/** Where a control is on the screen, how wide it is, and how far what it stands in was scrolled. */
export interface Place extends Point {
  width: number
  scrolled: Point
}

/** Why a press does not count: it came too soon after a change, or after the person came back to the page; what it was meant
 *  for has changed meanwhile; the page was still scrolling; the control has come under a pointer that did not move to it; or the
 *  key is one of several in a row. */
export type PressRejection = 'early' | 'returned' | 'changed' | 'scrolling' | 'resting' | 'word'
export type PressOutcome = 'taken' | PressRejection

const isNear = (a: number, b: number) => Math.abs(a - b) <= STILL_PX

export class PressGuard {
  private place: Place | null = null
  private isCovered = false
  /** Whether it takes no input because the person has just come back, and not because it has changed. */
  private isReturn = false
  private scrolledAt = -Infinity
  /** Where the pointer was when the control came under it, until it moves; `unseen` as long as nobody knows where it is. */
  private rest: Point | 'unseen' | null = null
  private press: { subject: string; at: number; outcome: PressOutcome } | null = null

  constructor(
    private subject: string,
    public changedAt: number,
  ) {}

  isSettled(now: number): boolean {
    return now - this.changedAt >= SETTLE_MS
  }

  /** It has changed, and nobody can have seen that yet. */
  hide(): void {
    this.changedAt = Infinity
  }

  /** The person goes to another window, or comes back: what they press then may be meant for that window. */
  leave(): void {
    this.isReturn = true
    this.hide()
  }

  /** What has changed is on the screen since now. */
  show(now: number): void {
    this.changedAt = now
  }

  /** It has come up where the pointer is or may be, or the pointer has gone out of sight. */
  setRest(rest: Point | 'unseen' | null): void {
    this.rest = rest
  }

  /** The pointer has moved to a point, or has gone down on it. The first that is heard of a mouse only tells where it is: the
   *  browser says so too when something goes away that lay between the mouse and the page. */
  movePointer(to: Point, hand: Hand): void {
    if (this.rest === 'unseen') this.rest = hand === 'mouse' ? to : null
    else if (this.rest && Math.hypot(to.x - this.rest.x, to.y - this.rest.y) >= MOVED_PX[hand]) this.rest = null
  }

  /** What the control is about now; true if that is something else than before. */
  setSubject(subject: string, now: number): boolean {
    if (subject === this.subject) return false
    this.subject = subject
    return this.change(now)
  }

  /** Where it is now; true if it has moved. What the person scrolls by hand has not moved by itself. */
  setPlace(place: Place, now: number, isScrolling: boolean): boolean {
    const before = this.place
    this.place = place
    if (!before) return false
    const isAsWide = isNear(place.width, before.width)
    if (isAsWide && isNear(place.x, before.x) && isNear(place.y, before.y)) {
      this.place = before // so that many small steps are seen as the long way that they are
      return false
    }
    const inside = ({ x, y, scrolled }: Place) => ({ x: x + scrolled.x, y: y + scrolled.y })
    const [here, there] = [inside(place), inside(before)]
    if (isScrolling && isAsWide && isNear(here.x, there.x) && isNear(here.y, there.y)) {
      this.scrolledAt = now
      this.rest = null
      return false
    }
    return this.change(now)
  }

  /** Whether something lies over it now; true if that has just gone. What the person scrolled from under it has not. */
  setCovered(isCovered: boolean, now: number, isScrolling: boolean): boolean {
    const isBare = this.isCovered && !isCovered && !isScrolling
    this.isCovered = isCovered
    return isBare && this.change(now)
  }

  /** A pointer or a key went down on the control. */
  begin(now: number, isPointer: boolean, isInWord = false): PressOutcome {
    const outcome = isInWord ? 'word' : this.outcomeAt(now, isPointer)
    this.press = { subject: this.subject, at: now, outcome }
    return outcome
  }

  /** It came up again. A pointer that did not go down here was meant for something else. */
  end(now: number, isPointer: boolean): PressOutcome {
    const press = this.press
    this.press = null
    if (press ? press.subject !== this.subject : isPointer) return 'changed'
    if (!press) return this.outcomeAt(now, false)
    return this.changedAt > press.at ? this.soon() : press.outcome
  }

  /** A key finds a control also below what covers it, such as a dialog that is closing. */
  private outcomeAt(now: number, isPointer: boolean): PressOutcome {
    if (!this.isSettled(now) || (!isPointer && this.isCovered)) return this.soon()
    this.isReturn = false
    if (isPointer && now - this.scrolledAt < SCROLL_MS) return 'scrolling'
    return isPointer && this.rest ? 'resting' : 'taken'
  }

  private change(now: number): true {
    this.changedAt = now
    this.isReturn = false
    return true
  }

  /** Why it takes no input yet. */
  private soon(): PressRejection {
    return this.isReturn ? 'returned' : 'early'
  }
}
