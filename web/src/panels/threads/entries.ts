/** What a thread shows, in one order: messages, and the runs and asks that belong to it. */
import type { Ask, Member, Message, Run } from '@/api/rows'
import type { RestMessage as Shown } from '@/api/types'

export type Entry =
  | { key: string; at: number; kind: 'message'; message: Message }
  | { key: string; at: number; kind: 'run'; run: Run }
  | { key: string; at: number; kind: 'ask'; ask: Ask }

export const getEntryKey = (entry: Entry): string => entry.key

/** About how high an entry will be: a long text must not be taken for a line, or too many would be drawn at once. */
export const estimateHeight = (entry: Entry): number =>
  entry.kind === 'message' ? 52 + Math.ceil(Math.min(entry.message.content.length, 40_000) / 100) * 20 : 90

/** A message as REST has it, in the form of a row. */
export function buildMessageRow(thread: string, shown: Shown): Message {
  const metadata = shown.metadata ? (JSON.parse(shown.metadata) as Record<string, unknown>) : null
  return {
    id: shown.id,
    thread_id: thread,
    seq: shown.seq,
    author_id: shown.author_id ?? shown.author,
    author_name: shown.author_name,
    role: shown.role,
    content: shown.content,
    created_at: Date.parse(shown.created_at),
    agent: shown.author_id !== null && shown.role !== 'system',
    priority: shown.priority,
    metadata,
    reply_to: shown.reply_to_msg_id,
    edited_at: shown.edited_at ? Date.parse(shown.edited_at) : null,
    edit_version: shown.edit_version,
    reactions: shown.reactions.map((one) => ({ agent_id: one.agent_id ?? '', reaction: one.reaction, at: 0 })),
  } as Message
}

const known = new WeakMap<Message, Entry>()

/** The same entry for the same message, however often the list is put together. */
function ofMessage(message: Message): Entry {
  let entry = known.get(message)
  if (!entry) {
    entry = { key: message.id, at: message.created_at, kind: 'message', message }
    known.set(message, entry)
  }
  return entry
}

/** Cards go between the messages by their time. Both lists come in order; cards from before messages that are not loaded wait. */
export function mergeEntries(messages: Message[], cards: Entry[], hasOlder: boolean): Entry[] {
  const first = hasOlder ? (messages[0]?.created_at ?? 0) : 0
  const waiting = cards.filter((card) => card.at >= first)
  if (!waiting.length) return messages.map(ofMessage)
  const out: Entry[] = []
  let next = 0
  for (const message of messages) {
    while (next < waiting.length && waiting[next]!.at < message.created_at) out.push(waiting[next++]!)
    out.push(ofMessage(message))
  }
  return [...out, ...waiting.slice(next)]
}

const dayOf = (at: number): string => new Date(at).toDateString()
/** Whether an entry is the first one of its day. */
export const startsDay = (entry: Entry, before: Entry | undefined): boolean => !before || dayOf(before.at) !== dayOf(entry.at)

/** Messages that follow each other within this time stand together below one name. */
const JOINED_MS = 300_000
export function isJoined(entry: Entry, before: Entry | undefined): boolean {
  if (entry.kind !== 'message' || before?.kind !== 'message') return false
  const [message, last] = [entry.message, before.message]
  const isSameVoice = last.author_id === message.author_id && last.role === message.role
  return isSameVoice && !message.reply_to && message.created_at - last.created_at < JOINED_MS && !startsDay(entry, before)
}

/** How far a person's own message has come with whom it reached furthest; empty for others, and if nobody else is there. */
export function findFurthestState(message: Message, members: Member[], isMe: (id: string) => boolean): string {
  if (message.agent || !isMe(message.author_id)) return ''
  const others = members.filter((one) => !isMe(one.member_id))
  if (!others.length) return ''
  return (['acted', 'seen', 'delivered'] as const).find((state) => others.some((one) => (one[state] ?? 0) >= message.seq)) ?? 'queued'
}
