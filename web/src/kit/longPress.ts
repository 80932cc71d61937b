/** A press that counts only after it was held for a second. Time in which the page stood still does not count: a short press
 *  must not pass for a long one because its end was heard late. Knows no DOM: it is told the time. */

export const HOLD_MS = 1_000
const LONGEST_STEP_MS = 60

export class LongPress {
  private heldMs = 0

  constructor(
    readonly byKey: boolean,
    private last: number,
  ) {}

  /** How much of it is done, from 0 to 1. */
  tick(now: number): number {
    this.heldMs += Math.min(now - this.last, LONGEST_STEP_MS)
    this.last = now
    return Math.min(1, this.heldMs / HOLD_MS)
  }
}
