/** What the page holds of one view: rows by table and key, and the seq up to which they are true. */
import { shallowReactive } from 'vue'

import type { Tables } from '@/api/rows'
import type { Frame, RowFrame, Table } from './frames'

/** Of what a run says without end, only the newest is held: the most rows, and how many stay when there are more. */
const HELD: Partial<Record<Table, [most: number, kept: number]>> = { item: [4000, 3000] }

export class View {
  readonly tables = new Map<Table, Map<string, unknown>>()
  /** What the page shows of the view besides its rows; changes are seen. */
  readonly state = shallowReactive<{ ready: boolean; more: boolean; seq: number; error: string | null }>({
    ready: false,
    more: false,
    seq: 0,
    error: null,
  })
  users = 0
  id: number | null = null
  leaving: ReturnType<typeof setTimeout> | null = null

  constructor(
    readonly name: string,
    readonly key: string | undefined,
    readonly limit: number | undefined,
  ) {}

  rows<T extends Table>(table: T): Map<string, Tables[T]> {
    let rows = this.tables.get(table)
    if (!rows) {
      rows = shallowReactive(new Map<string, unknown>())
      this.tables.set(table, rows)
    }
    return rows as Map<string, Tables[T]>
  }

  /** Forget what is held and take this. */
  reset(frame: Extract<Frame, { op: 'snapshot' }>): void {
    const kept = new Map<Table, Set<string>>()
    for (const row of frame.rows) {
      const keys = kept.get(row.table) ?? new Set()
      kept.set(row.table, keys.add(row.key))
    }
    for (const [table, rows] of this.tables) for (const key of [...rows.keys()]) if (!kept.get(table)?.has(key)) rows.delete(key)
    for (const row of frame.rows) this.put(row)
    Object.assign(this.state, { ready: true, more: frame.more, seq: frame.seq, error: null })
  }

  apply(frame: Extract<Frame, { op: 'changes' }>): void {
    for (const row of frame.rows) this.put(row)
    this.trim()
    if (this.key !== undefined && frame.rows.some((row) => row.row === null && row.key === this.key)) this.end('gone')
    Object.assign(this.state, { ready: true, seq: frame.seq })
  }

  private trim(): void {
    for (const [table, [most, kept]] of Object.entries(HELD) as [Table, [number, number]][]) {
      const rows = this.tables.get(table)
      if (!rows || rows.size <= most) continue
      for (const key of [...rows.keys()].slice(0, rows.size - kept)) rows.delete(key)
      this.state.more = true
    }
  }

  end(error: string): void {
    for (const rows of this.tables.values()) rows.clear()
    Object.assign(this.state, { ready: true, error })
  }

  private put({ table, key, row }: RowFrame): void {
    const rows = this.rows(table) as Map<string, unknown>
    if (row === null) rows.delete(key)
    else rows.set(key, Object.freeze(row))
  }
}
