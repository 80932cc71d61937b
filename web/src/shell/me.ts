/** Who looks at the page, and what they may do. */
import { computed, reactive } from 'vue'

import { get } from '@/api/http'
import type { Me } from '@/api/types'
import { kept } from './kept'

export const me = reactive<Me & { known: boolean }>({
  id: '',
  kind: '',
  name: '',
  rights: [],
  room: null,
  version: '',
  now: 0,
  insecure: false,
  known: false,
})
/** How far the hub's clock is ahead of ours, in milliseconds. */
let ahead = 0

/** Who operates may answer too; 'enter' is the right of everybody who is logged in. */
export const may = (right: string): boolean => right === 'enter' || me.rights.includes(right) || (right === 'answer' && me.rights.includes('operate'))
export const hubNow = (): number => Date.now() + ahead

/** The name under which this person writes; the hub calls who gives none 'human'. */
export const nickname = kept('nickname', '')
export const myName = computed(() => nickname.value || 'human')

export async function meet(): Promise<void> {
  const sent = Date.now()
  const found = await get<Me>('/api/me')
  ahead = found.now - (sent + Date.now()) / 2
  Object.assign(me, found, { known: true })
}
