/** A list that stands still while somebody is at it: rows keep their places, what is over stays where it was, and what is new
 *  waits to be shown. Knows no DOM: it is told whether somebody is there. */

export interface SteadyRows<T> {
  rows: T[]
  /** What is there and not shown yet, in its order. */
  fresh: T[]
}

export interface SteadyRowsOptions<T> {
  keyOf: (item: T) => string
  /** Whether what is new waits. */
  holdsFresh: boolean
  /** Whether what is over stays. */
  holdsOver: boolean
  /** What stays in any case, such as what is being looked at. */
  kept?: string
}

export function arrangeSteadyRows<T>(shown: T[], now: T[], { keyOf, holdsFresh, holdsOver, kept }: SteadyRowsOptions<T>): SteadyRows<T> {
  const here = new Map(now.map((item) => [keyOf(item), item]))
  const stays = (item: T) => here.has(keyOf(item)) || holdsOver || keyOf(item) === kept
  if (!holdsFresh || !shown.length) {
    const rows = [...now]
    shown.forEach((item, at) => !here.has(keyOf(item)) && stays(item) && rows.splice(Math.min(at, rows.length), 0, item))
    return { rows, fresh: [] }
  }
  const rows = shown.filter(stays).map((item) => here.get(keyOf(item)) ?? item)
  const known = new Set(rows.map(keyOf))
  return { rows, fresh: now.filter((item) => !known.has(keyOf(item))) }
}
