/** Who can be mentioned in a thread, and what is typed of a mention. */
import type { Agent } from '@/api/rows'
import type { ListedProfile } from '@/api/types'

/** Somebody to mention: an agent that is here, or a profile that is invited once the message is sent. */
export type Mention = { kind: 'member'; id: string; shown: string; agent: Agent } | { kind: 'invite'; id: string; shown: string }
export interface TypedMention {
  /** Where its name begins in the text. */
  from: number
  word: string
}

const MOST = 7

/** The mention that somebody is typing at the end of a text. */
export function readMention(before: string): TypedMention | null {
  const found = /(^|\s)@([\p{L}\p{N}_.-]*)$/u.exec(before)
  return found ? { from: before.length - found[2]!.length, word: found[2]! } : null
}

/** A text in which a mention was completed, and where one goes on writing. */
export function completeMention(text: string, { from }: TypedMention, cursor: number, name: string): { text: string; cursor: number } {
  const start = `${text.slice(0, from)}${name.replaceAll(' ', '-')} `
  return { text: start + text.slice(cursor), cursor: start.length }
}

/** Members first, the newest of them before the others; then whoever can be invited. Who has ended is not offered. */
export function findMentions(word: string, members: Agent[], profiles: ListedProfile[], mayInvite: boolean): Mention[] {
  const isReachable = (agent: Agent) => !agent.profile || profiles.some((one) => one.name === agent.profile && one.enabled)
  const here = members.filter(isReachable).reverse()
  const callable = profiles.filter((one) => mayInvite && one.is_invitable && !here.some((agent) => agent.profile === one.name))
  const all: Mention[] = [
    ...here.map((agent): Mention => ({ kind: 'member', id: agent.id, shown: agent.display_name || agent.name, agent })),
    ...callable.map((one): Mention => ({ kind: 'invite', id: one.name, shown: one.display_name })),
  ]
  const textOf = (one: Mention) => (one.kind === 'invite' ? `${one.shown} ${one.id}` : one.shown).toLowerCase()
  return all.filter((one) => textOf(one).includes(word.toLowerCase())).slice(0, MOST)
}
