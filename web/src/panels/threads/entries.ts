/** What a thread shows, in one order: messages, and the runs and asks that belong to it. */
import type { Ask, Message, Run } from '@/api/rows'
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
