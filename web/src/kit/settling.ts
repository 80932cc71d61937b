/** When a control may take input: once it has stood still, about the same subject, for a while. Whoever aims at something
 *  that has just moved or changed means what was there before. Knows no DOM: it is told the time, the subject and the place. */

export const SETTLE_MS = 700
const STILL_PX = 2

/** Where a control is on the screen, and how far what it stands in was scrolled. */
export interface Place {
  x: number
  y: number
  scrolled: number
}

/** What becomes of a press: it counts, it came too soon, or what it was meant for has changed meanwhile. */
export type Outcome = 'taken' | 'early' | 'changed'

export class Settling {
  private place: Place | null = null
  private isCovered = false
  private press: { subject: string; at: number; isSettled: boolean } | null = null

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

  /** What has changed is on the screen since now. */
  show(now: number): void {
    this.changedAt = now
  }

  /** What the control is about now; true if that is something else than before. */
  setSubject(subject: string, now: number): boolean {
    if (subject === this.subject) return false
    this.subject = subject
    this.changedAt = now
    return true
  }

  /** Where it is now; true if it has moved. What the person scrolls by hand has not moved by itself. */
  setPlace(place: Place, now: number, isScrolling: boolean): boolean {
    const before = this.place
    this.place = place
    if (!before) return false
    const isStill = Math.abs(place.x - before.x) <= STILL_PX && Math.abs(place.y - before.y) <= STILL_PX
    if (isStill) {
      this.place = before // so that many small steps are seen as the long way that they are
      return false
    }
    const inside = place.y + place.scrolled - before.y - before.scrolled
    if (isScrolling && Math.abs(inside) <= STILL_PX && Math.abs(place.x - before.x) <= STILL_PX) return false
    this.changedAt = now
    return true
  }

  /** Whether something lies over it now; true if that has just gone. What the person scrolled from under it has not. */
  setCovered(isCovered: boolean, now: number, isScrolling: boolean): boolean {
    const isBare = this.isCovered && !isCovered && !isScrolling
    this.isCovered = isCovered
    if (isBare) this.changedAt = now
    return isBare
  }

  /** A pointer or a key went down on the control. */
  begin(now: number): void {
    this.press = { subject: this.subject, at: now, isSettled: this.isSettled(now) }
  }

  /** It came up again. A pointer that did not go down here was meant for something else. */
  end(now: number, isPointer: boolean): Outcome {
    const press = this.press
    this.press = null
    if (press ? press.subject !== this.subject : isPointer) return 'changed'
    const hasStood = press ? press.isSettled && this.changedAt <= press.at : this.isSettled(now)
    return hasStood ? 'taken' : 'early'
  }
}
