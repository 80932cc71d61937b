/** Who looks at the page, and what they may do. */
import { computed, reactive } from 'vue'

import { get, put } from '@/api/http'
import type { Me } from '@/api/types'
import { t } from '@/browser/i18n'
import { storedRef } from '@/browser/storedRef'

export const me = reactive<Me & { known: boolean }>({
  id: '',
  kind: 'viewer',
  name: '',
  rights: [],
  room: null,
  version: '',
  now: 0,
  insecure: false,
  person: '',
  handle: '',
  owner: '',
  suggested_name: '',
  known: false,
})
/** How far the hub's clock is ahead of ours, in milliseconds. */
let ahead = 0

/** Who operates may answer too; 'enter' is the right of everybody who is logged in. */
export const may = (right: string): boolean =>
  right === 'enter' || me.rights.includes(right) || (right === 'answer' && me.rights.includes('operate'))
export const hubNow = (): number => Date.now() + ahead

/** What somebody in a room calls themselves in this browser: a room's token is shared, so the hub knows no name of theirs. */
const keptNickname = storedRef('nickname', '')
export const nickname = computed(() => (me.room ? keptNickname.value : ''))
/** The name that others see; of an owner who was not asked yet, a word for oneself. */
export const myName = computed(() => me.person || nickname.value || t('shell.you'))
/** What to offer an owner who has no name yet. */
export const offeredName = (): string => keptNickname.value || me.suggested_name

/** Change the name that others see. */
export async function setMyName(name: string): Promise<void> {
  if (me.room) keptNickname.value = name.trim().slice(0, 64)
  else Object.assign(me, await put<Me>('/api/me/name', { name: name.trim() }))
}

/** What the owner was called before they had a name, and is called by clients that know no other. */
const OWNERS_OTHER_NAMES = new Set(['human', 'operator', 'browser'])
export const isMe = (authorId: string): boolean => !!me.handle && authorId === me.handle
/** A person by the name that they have now. */
export function personName(name: string): string {
  if (!OWNERS_OTHER_NAMES.has(name)) return name
  return me.owner || (isMe('human') ? myName.value : name)
}
/** The author of a message by the name that they have now. */
export function authorName(message: { agent?: boolean; author_id: string; author_name: string }): string {
  if (message.agent) return message.author_name
  return isMe(message.author_id) ? myName.value : personName(message.author_name)
}

export async function loadMe(): Promise<void> {
  const sent = Date.now()
  const found = await get<Me>('/api/me')
  ahead = found.now - (sent + Date.now()) / 2
  Object.assign(me, found, { known: true })
}
