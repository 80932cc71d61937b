/** The item before or after another. Where there is none, the nearest end of the list. */
export const getNeighbour = (ids: string[], id: string, step: number): string | undefined =>
  ids[Math.max(0, Math.min(ids.length - 1, ids.indexOf(id) + step))]
