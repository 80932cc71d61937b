/** The list of names while somebody types a mention. */
import { computed, nextTick, ref, type Ref } from 'vue'

import type { Member } from '@/api/rows'
import { useAgents } from '@/stores/agents'
import { may } from '@/stores/me'
import { useProfiles } from '@/stores/profiles'
import { completeMention, findMentions, readMention, type Mention, type TypedMention } from './mentions'

export function useMentions(text: Ref<string>, field: Ref<HTMLTextAreaElement | null>, members: () => Member[]) {
  const agents = useAgents()
  const profiles = useProfiles()
  const typed = ref<TypedMention | null>(null)
  const at = ref(0)
  /** The profiles that were chosen: their agents are not here yet, and are invited once the message is sent. */
  const invited = new Set<string>()
  const offered = computed(() => {
    if (!typed.value) return []
    const here = members().flatMap((one) => agents.find(one.member_id) ?? [])
    return findMentions(typed.value.word, here, profiles.list, may('operate'))
  })
  function look(): void {
    typed.value = field.value && readMention(text.value.slice(0, field.value.selectionStart))
    at.value = 0
  }
  async function choose(mention: Mention): Promise<void> {
    const here = field.value
    if (!typed.value || !here) return
    if (mention.kind === 'invite') invited.add(mention.id)
    const done = completeMention(text.value, typed.value, here.selectionStart, mention.shown)
    text.value = done.text
    typed.value = null
    await nextTick()
    here.setSelectionRange(done.cursor, done.cursor)
    here.focus()
  }
  /** Take a key that is for the list; false for all others. */
  function takeKey(event: KeyboardEvent): boolean {
    const count = offered.value.length
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!count) return false
    if (step) at.value = (at.value + step + count) % count
    else if (event.key === 'Enter' || event.key === 'Tab') void choose(offered.value[at.value]!)
    else if (event.key === 'Escape') typed.value = null
    else return false
    if (event.key === 'Escape') event.stopPropagation()
    else event.preventDefault()
    return true
  }
  function takeInvited(): Set<string> {
    const taken = new Set(invited)
    invited.clear()
    return taken
  }
  return { offered, typed, at, look, choose, takeKey, takeInvited }
}
