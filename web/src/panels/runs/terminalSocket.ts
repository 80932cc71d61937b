/** The socket to an agent's terminal. A connection can be cut without a word: then pings are left unanswered, it says that it is
 *  cut, and connects again. Keys carry the newest clock of the hub, which does not type those that were on their way for too long. */
import { openSocket } from '@/api/pageKey'

const BEAT_MS = 2_000
/** As long as the hub takes keys for; see KEYS_S in link/frames.py. */
const PATIENCE_MS = 10_000
const LONGEST_WAIT_MS = 4_000

export interface TerminalFrame {
  op: string
  whole?: boolean
  lines?: Record<string, string>
  rows?: number
  columns?: number
  cursor?: [number, number] | null
  writer?: string
  you?: boolean
  viewers?: number
  viewer?: string
  at?: number
}

export class TerminalSocket {
  private socket: WebSocket | null = null
  private viewer = ''
  private hubClock: number | undefined
  /** When the oldest ping that nobody has answered yet was sent; 0 if all are answered. */
  private askedAt = 0
  private tries = 0
  private retry: ReturnType<typeof setTimeout> | undefined
  private readonly beat: ReturnType<typeof setInterval>
  private readonly shown = () => !document.hidden && this.ping()

  constructor(
    private readonly path: string,
    private readonly looksOnly: boolean,
    private readonly hear: (frame: TerminalFrame) => void,
    private readonly cut: () => void,
  ) {
    this.connect()
    this.beat = setInterval(() => this.ping(), BEAT_MS)
    document.addEventListener('visibilitychange', this.shown) // a hidden page's timers are slow, and its clock is old
  }

  send(frame: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ ...frame, at: this.hubClock }))
  }

  close(): void {
    clearInterval(this.beat)
    clearTimeout(this.retry)
    document.removeEventListener('visibilitychange', this.shown)
    this.drop()
  }

  private connect(): void {
    const query = new URLSearchParams({ was: this.viewer, ...(this.looksOnly && { read_only: '1' }) })
    const socket = openSocket(`${this.path}?${query}`)
    this.socket = socket
    this.askedAt = Date.now() // a socket that does not open is cut as well
    this.hubClock = undefined
    socket.onopen = () => this.ping()
    socket.onmessage = (event) => this.take(JSON.parse(String(event.data)) as TerminalFrame)
    socket.onclose = () => this.lose()
  }

  private take(frame: TerminalFrame): void {
    this.tries = 0
    if (frame.op === 'pong') this.askedAt = 0
    if (frame.op === 'writer') this.viewer = frame.viewer ?? ''
    this.hubClock = frame.at ?? this.hubClock
    this.hear(frame)
  }

  private ping(): void {
    if (!this.socket) return
    if (this.askedAt && Date.now() - this.askedAt > PATIENCE_MS) return this.lose()
    if (this.socket.readyState !== WebSocket.OPEN) return
    this.askedAt ||= Date.now()
    this.send({ op: 'ping' })
  }

  private lose(): void {
    this.drop()
    this.retry = setTimeout(() => this.connect(), Math.min(500 * ++this.tries, LONGEST_WAIT_MS))
    this.cut()
  }

  private drop(): void {
    const socket = this.socket
    this.socket = null
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }
}
