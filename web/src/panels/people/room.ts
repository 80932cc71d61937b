/** The room that this page is in: who else is there, and what was said. Nothing of it is stored anywhere. */
import { defineStore } from 'pinia'
import { computed, reactive, ref, watch } from 'vue'

import { newKey } from '@/api/http'
import { openSocket } from '@/api/pageKey'
import { storedRef } from '@/browser/storedRef'
import { me, myName, nickname } from '@/stores/me'

export interface Person {
  id: string
  name: string
  since: number
}
export interface RoomMessage {
  id: string
  mine: boolean
  text: string
  at: number
}
interface User {
  clientId: string
  nickname: string
  connectedAt: string
}
interface Heard {
  Cmd: string
  UserLoginResponse?: { clientId?: string; success?: boolean; errorMessage?: string }
  GetOnlineUsersResponse?: { onlineUsers?: User[] }
  UserConnectionStatusNotification?: { user: User; status: string }
  ChatMessageNotification?: {
    chatMessage: { messageId: string; senderClientId: string; senderNickname: string; content?: string; sentAt: string }
  }
}
const AGAIN_MS = 3000
const MOST_WORDS = 500

export const usePeople = defineStore('people', () => {
  const room = storedRef('room', 'office')
  const state = ref<'off' | 'connecting' | 'live'>('off')
  const problem = ref('')
  const mine = ref('')
  const people = reactive(new Map<string, Person>())
  const words = reactive(new Map<string, RoomMessage[]>())
  const names = reactive(new Map<string, string>())
  const fresh = reactive(new Map<string, number>())
  const chosen = ref('')
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const others = computed(() => [...people.values()].filter((one) => one.id !== mine.value).sort((a, b) => a.name.localeCompare(b.name)))
  const unread = computed(() => [...fresh.values()].reduce((sum, count) => sum + count, 0))
  const where = computed(() => me.room ?? room.value)

  function tell(message: Record<string, unknown>): boolean {
    if (socket?.readyState !== WebSocket.OPEN) return false
    socket.send(JSON.stringify(message))
    return true
  }
  function add(id: string, word: RoomMessage): void {
    words.set(id, [...(words.get(id) ?? []), word].slice(-MOST_WORDS))
  }
  const note = (user: User) => {
    people.set(user.clientId, { id: user.clientId, name: user.nickname, since: Number(user.connectedAt) * 1000 })
    names.set(user.clientId, user.nickname)
  }

  function hear(heard: Heard): void {
    if (heard.Cmd === 'UserLogin') {
      const answer = heard.UserLoginResponse ?? {}
      if (!answer.success) return void (problem.value = answer.errorMessage ?? '')
      mine.value = answer.clientId ?? ''
      state.value = 'live'
      problem.value = ''
      tell({ Cmd: 'GetOnlineUsers' })
    } else if (heard.Cmd === 'GetOnlineUsers') {
      people.clear()
      for (const user of heard.GetOnlineUsersResponse?.onlineUsers ?? []) note(user)
    } else if (heard.UserConnectionStatusNotification) {
      const { user, status } = heard.UserConnectionStatusNotification
      if (status === 'connected') note(user)
      else people.delete(user.clientId)
    } else if (heard.ChatMessageNotification) {
      const said = heard.ChatMessageNotification.chatMessage
      names.set(said.senderClientId, said.senderNickname)
      add(said.senderClientId, { id: said.messageId, mine: false, text: said.content ?? '', at: Number(said.sentAt) * 1000 })
      if (chosen.value !== said.senderClientId || document.hidden) fresh.set(said.senderClientId, (fresh.get(said.senderClientId) ?? 0) + 1)
    }
  }
  function connect(): void {
    clearTimeout(timer)
    socket?.close()
    people.clear()
    state.value = 'connecting'
    const made = openSocket('/people')
    socket = made
    made.onopen = () => {
      const name = me.person || nickname.value || me.name
      tell({ Cmd: 'UserLogin', Nickname: name, StrParam: me.room ? '' : `room:${room.value}` })
    }
    made.onmessage = (event: MessageEvent<string>) => hear(JSON.parse(event.data) as Heard)
    made.onclose = () => {
      if (socket !== made) return
      socket = null
      people.clear()
      state.value = 'off'
      if (!problem.value) timer = setTimeout(connect, AGAIN_MS)
    }
  }
  watch(myName, () => state.value !== 'off' && connect())
  /** Come in, if this page has not yet. */
  const enter = () => state.value === 'off' && connect()
  function move(to: string): void {
    room.value = to
    problem.value = ''
    chosen.value = ''
    connect()
  }
  function write(to: string, text: string): boolean {
    if (!people.has(to) || !tell({ Cmd: 'SendChatMessage', SendChatMessageRequest: { receiverClientId: to, content: text } })) return false
    add(to, { id: newKey(), mine: true, text, at: Date.now() })
    return true
  }
  function look(id: string): void {
    chosen.value = id
    fresh.delete(id)
  }
  return { room, where, state, problem, mine, people, others, words, names, fresh, unread, chosen, enter, move, write, look }
})
