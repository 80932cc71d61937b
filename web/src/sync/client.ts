/** One socket for the whole page: views by number, resumed by seq whenever the connection comes back. */
import { shallowReactive } from 'vue'

import { parseExact } from '@/api/exactJson'
import { openSocket } from '@/api/pageKey'
import type { Frame, ClientFrame } from './frames'
import { View } from './view'

export type Connection = 'connecting' | 'live' | 'lost' | 'denied'

const PING_MS = 20_000
const PATIENCE_MS = 6_000
const SLEPT_MS = 45_000
const KEEP_MS = 60_000
const WAITS_MS = [300, 700, 1_500, 3_000, 6_000, 10_000]

export class SyncClient {
  readonly state = shallowReactive<{ connection: Connection; since: number; retryAt: number }>({
    connection: 'connecting',
    since: Date.now(),
    retryAt: 0,
  })
  private socket: WebSocket | null = null
  private views = new Map<string, View>()
  private byId = new Map<number, View>()
  private listeners = new Map<string, Set<(payload: Record<string, unknown>) => void>>()
  private number = 0
  private failures = 0
  private retry: ReturnType<typeof setTimeout> | undefined
  private pinging: ReturnType<typeof setTimeout> | undefined
  private patience: ReturnType<typeof setTimeout> | undefined
  private beat = Date.now()

  constructor(
    private readonly path: string,
    private readonly denied: () => void,
    private readonly checkLogin: () => void,
  ) {}

  start(): void {
    addEventListener('online', () => this.again())
    addEventListener('offline', () => this.check())
    addEventListener('pageshow', (event) => event.persisted && this.check())
    document.addEventListener('visibilitychange', () => !document.hidden && this.check())
    setInterval(() => {
      const slept = Date.now() - this.beat > SLEPT_MS
      this.beat = Date.now()
      if (slept) this.check()
    }, 5_000)
    this.connect()
  }

  /** A view, held for as long as somebody uses it and a little longer, so that going back shows it at once. */
  hold(name: string, key?: string, limit?: number): View {
    const place = `${name} ${key ?? ''}`
    let view = this.views.get(place)
    if (!view) {
      view = new View(name, key, limit)
      this.views.set(place, view)
    }
    if (view.leaving) clearTimeout(view.leaving)
    view.leaving = null
    view.users++
    if (view.id === null || view.state.error) this.subscribe(view)
    return view
  }

  release(view: View): void {
    if (--view.users > 0) return
    view.leaving = setTimeout(() => {
      this.views.delete(`${view.name} ${view.key ?? ''}`)
      if (view.id !== null) {
        this.byId.delete(view.id)
        this.send({ op: 'unsubscribe', id: view.id })
      }
    }, KEEP_MS)
  }

  listen(kind: string, hear: (payload: Record<string, unknown>) => void): () => void {
    const hearers = this.listeners.get(kind) ?? new Set()
    this.listeners.set(kind, hearers.add(hear))
    return () => hearers.delete(hear)
  }

  /** Try at once, whatever the wait was. */
  again(): void {
    if (this.socket?.readyState === WebSocket.OPEN) return this.check()
    this.failures = 0
    this.connect()
  }

  private connect(): void {
    clearTimeout(this.retry)
    this.drop()
    if (this.state.connection !== 'live') this.say(this.failures ? 'lost' : 'connecting')
    const socket = openSocket(this.path)
    this.socket = socket
    this.patience = setTimeout(() => this.lose(socket), PATIENCE_MS)
    socket.onopen = () => {
      clearTimeout(this.patience)
      this.failures = 0
      this.say('live')
      this.byId.clear()
      for (const view of this.views.values()) this.subscribe(view)
      this.plan()
    }
    socket.onmessage = (event) => this.hear(parseExact(event.data as string) as Frame)
    let isOpen = false
    socket.addEventListener('open', () => (isOpen = true))
    socket.onclose = (event) => {
      if (event.code === 4401) {
        this.say('denied')
        this.denied()
        return
      }
      if (!isOpen) this.checkLogin() // a browser does not tell a page why a socket was refused
      this.lose(socket)
    }
  }

  private lose(socket: WebSocket): void {
    if (socket !== this.socket) return
    this.drop()
    this.say('lost')
    const wait = WAITS_MS[Math.min(this.failures++, WAITS_MS.length - 1)]! * (0.8 + Math.random() * 0.4)
    this.state.retryAt = Date.now() + wait
    this.retry = setTimeout(() => this.connect(), wait)
  }

  private drop(): void {
    clearTimeout(this.pinging)
    clearTimeout(this.patience)
    const socket = this.socket
    this.socket = null
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }

  private say(connection: Connection): void {
    const isNews = connection === 'live' || this.state.connection === 'live' // a further attempt does not begin the time again
    if (connection !== this.state.connection) Object.assign(this.state, { connection, since: isNews ? Date.now() : this.state.since })
  }

  private plan(): void {
    clearTimeout(this.pinging)
    this.pinging = setTimeout(() => this.check(), PING_MS)
  }

  /** Is the other side still there? A socket that slept may say that it is open and be dead. */
  private check(): void {
    const socket = this.socket
    if (socket?.readyState !== WebSocket.OPEN) {
      if (!socket || socket.readyState !== WebSocket.CONNECTING) this.again()
      return
    }
    this.send({ op: 'ping' })
    clearTimeout(this.patience)
    this.patience = setTimeout(() => this.lose(socket), PATIENCE_MS)
  }

  private send(wish: ClientFrame): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(wish))
  }

  private subscribe(view: View): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return
    if (view.id !== null) this.byId.delete(view.id)
    view.id = ++this.number
    this.byId.set(view.id, view)
    const after = view.state.ready && !view.state.error ? { after: view.state.seq } : {}
    const key = view.key === undefined ? {} : { key: view.key }
    const limit = view.limit === undefined ? {} : { limit: view.limit }
    this.send({ op: 'subscribe', id: view.id, view: view.name, ...key, ...after, ...limit })
  }

  private hear(frame: Frame): void {
    switch (frame.op) {
      case 'snapshot':
        return this.byId.get(frame.id)?.reset(frame)
      case 'changes':
        return this.views.get(`${frame.view} ${frame.key ?? ''}`)?.apply(frame)
      case 'resync': {
        const view = this.byId.get(frame.id)
        if (view) {
          view.state.ready = false
          this.subscribe(view)
        }
        return
      }
      case 'error':
        if (frame.id !== null) this.byId.get(frame.id)?.end(frame.error)
        return
      case 'signal':
        for (const hear of this.listeners.get(frame.kind) ?? []) hear(frame.payload)
        return
      case 'pong':
        clearTimeout(this.patience)
        this.plan()
    }
  }
}
