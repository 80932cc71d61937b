/** The frames of the sync socket, as docs/users/sync-socket.md tells them. */
import type { Tables } from '@/api/rows'

export type Table = keyof Tables

export interface RowFrame {
  table: Table
  key: string
  seq?: number
  row: unknown
}

export type Frame =
  | { op: 'snapshot'; id: number; seq: number; more: boolean; rows: RowFrame[] }
  | { op: 'changes'; id?: number; view: string; key?: string; seq: number; rows: RowFrame[] }
  | { op: 'resync'; id: number }
  | { op: 'error'; id: number | null; error: string; message: string }
  | { op: 'signal'; kind: string; payload: Record<string, unknown> }
  | { op: 'pong' }

export type ClientFrame =
  | { op: 'subscribe'; id: number; view: string; key?: string; after?: number; limit?: number }
  | { op: 'unsubscribe'; id: number }
  | { op: 'ping' }
