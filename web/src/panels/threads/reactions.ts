/** The reactions to a message. */
import { call, post } from '@/api/http'
import type { Message } from '@/api/rows'
import { isMe } from '@/stores/me'

/** Each sign with who has given it, in the order in which they came. */
export function groupReactions(message: Message): [sign: string, members: string[]][] {
  const found = new Map<string, string[]>()
  for (const { reaction, agent_id } of message.reactions ?? []) found.set(reaction, [...(found.get(reaction) ?? []), agent_id])
  return [...found]
}

/** Give a sign, or take one's own back. */
export function toggleReaction(message: Message, sign: string): Promise<unknown> {
  const path = `/api/messages/${message.id}/reactions`
  const isGiven = (message.reactions ?? []).some((one) => isMe(one.agent_id) && one.reaction === sign)
  return isGiven ? call('DELETE', `${path}/${encodeURIComponent(sign)}`, {}) : post(path, { reaction: sign })
}
