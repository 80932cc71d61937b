// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { SyncClient } from './client'
import type { ClientFrame, Frame } from './frames'

/** The browser's socket: what the hub would do with it is done by the test. */
class HubSocket extends EventTarget {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static made: HubSocket[] = []
  readyState = HubSocket.CONNECTING
  sent: ClientFrame[] = []
  onopen: (() => void) | null = null
  onmessage: ((event: { data: string }) => void) | null = null
  onclose: ((event: { code: number }) => void) | null = null

  constructor(
    readonly url: string,
    readonly protocols: string[],
  ) {
    super()
    HubSocket.made.push(this)
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }
  close(): void {
    this.readyState = 3
  }
  accept(): void {
    this.readyState = HubSocket.OPEN
    this.onopen?.()
    this.dispatchEvent(new Event('open'))
  }
  say(frame: Frame): void {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
  cut(code = 1006): void {
    this.readyState = 3
    this.onclose?.({ code })
  }
}

const denied = vi.fn<() => void>()
const checkLogin = vi.fn<() => void>()
const newest = () => HubSocket.made.at(-1)!
const threadRow = (key: string) => ({ table: 'thread' as const, key, row: { id: key } })

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', HubSocket)
  HubSocket.made = []
  denied.mockClear()
  checkLogin.mockClear()
})
afterEach(() => {
  vi.clearAllTimers()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function start(): SyncClient {
  const client = new SyncClient('/api/sync', denied, checkLogin)
  client.start()
  newest().accept()
  return client
}

test('a view is subscribed to once, whoever uses it', () => {
  const client = start()
  const view = client.hold('threads')
  expect(client.hold('threads')).toBe(view)
  expect(newest().sent).toEqual([{ op: 'subscribe', id: 1, view: 'threads' }])
})

test('after a cut a view goes on where it was', () => {
  const client = start()
  const view = client.hold('thread', 't1', 50)
  newest().say({ op: 'snapshot', id: 1, seq: 8, more: false, rows: [threadRow('t1')] })
  newest().say({ op: 'changes', view: 'thread', key: 't1', seq: 9, rows: [] })
  newest().cut()
  expect(client.state.connection).toBe('lost')
  expect(view.rows('thread').size).toBe(1)
  vi.advanceTimersByTime(400)
  newest().accept()
  expect(client.state.connection).toBe('live')
  expect(newest().sent).toEqual([{ op: 'subscribe', id: 2, view: 'thread', key: 't1', after: 9, limit: 50 }])
})

test('a hub that has forgotten what came since sends the whole view', () => {
  const client = start()
  const view = client.hold('threads')
  newest().say({ op: 'snapshot', id: 1, seq: 8, more: false, rows: [threadRow('t1')] })
  newest().say({ op: 'resync', id: 1 })
  expect(newest().sent.at(-1)).toEqual({ op: 'subscribe', id: 2, view: 'threads' })
  newest().say({ op: 'snapshot', id: 1, seq: 9, more: false, rows: [] })
  expect(view.rows('thread').size, 'an answer to what was asked before').toBe(1)
  newest().say({ op: 'snapshot', id: 2, seq: 9, more: false, rows: [] })
  expect(view.rows('thread').size).toBe(0)
})

test('a view that was refused says why, and is asked for again by the next who uses it', () => {
  const client = start()
  const view = client.hold('thread', 'gone')
  newest().say({ op: 'error', id: 1, error: 'not_found', message: '' })
  expect(view.state.error).toBe('not_found')
  client.hold('thread', 'gone')
  expect(newest().sent.at(-1)).toMatchObject({ op: 'subscribe', id: 2 })
})

test('a view that nobody uses is kept for a minute', () => {
  const client = start()
  const view = client.hold('threads')
  client.release(view)
  vi.advanceTimersByTime(10_000)
  expect(client.hold('threads')).toBe(view)
  client.release(view)
  newest().sent = []
  newest().say({ op: 'pong' })
  vi.advanceTimersByTime(15_000)
  newest().say({ op: 'pong' })
  for (let left = 45_000; left > 0; left -= 5_000) {
    vi.advanceTimersByTime(5_000)
    newest().say({ op: 'pong' })
  }
  expect(newest().sent).toContainEqual({ op: 'unsubscribe', id: 1 })
  expect(client.hold('threads')).not.toBe(view)
})

test('a hub that does not answer is lost, and is tried again after ever longer waits', () => {
  const client = start()
  vi.advanceTimersByTime(20_000)
  expect(newest().sent).toEqual([{ op: 'ping' }])
  vi.advanceTimersByTime(6_000)
  expect(client.state.connection).toBe('lost')
  const waits: number[] = []
  for (let tries = 0; tries < 3; tries++) {
    waits.push(client.state.retryAt - Date.now())
    vi.advanceTimersByTime(waits.at(-1)!)
    newest().cut()
  }
  expect(HubSocket.made).toHaveLength(4)
  expect(waits).toEqual([...waits].sort((a, b) => a - b))
})

test('a socket that was never opened may mean that the login is over', () => {
  const client = start()
  newest().cut()
  expect(checkLogin).not.toHaveBeenCalled()
  client.again()
  newest().cut()
  expect(checkLogin).toHaveBeenCalledOnce()
})

test('a login that is over is said, and not tried again', () => {
  const client = start()
  newest().cut(4401)
  expect(client.state.connection).toBe('denied')
  expect(denied).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(4_000)
  expect(HubSocket.made).toHaveLength(1)
})

test('a signal reaches those who listen, until they stop', () => {
  const client = start()
  const heard: unknown[] = []
  const stop = client.listen('typing', (payload) => heard.push(payload))
  newest().say({ op: 'signal', kind: 'typing', payload: { who: 'a' } })
  newest().say({ op: 'signal', kind: 'other', payload: {} })
  stop()
  newest().say({ op: 'signal', kind: 'typing', payload: { who: 'b' } })
  expect(heard).toEqual([{ who: 'a' }])
})
