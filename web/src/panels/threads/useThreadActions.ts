/** What can be done with a thread as a whole, by its menus and by the palette. */
import type { Ref } from 'vue'

import { download } from '@/api/files'
import type { Thread } from '@/api/rows'
import { archiveThread, closeThread, deleteThread, pinThread, setThreadState, unarchiveThread, unpinThread } from '@/api/verbs'
import { t } from '@/browser/i18n'
import { useKeys } from '@/browser/keys'
import { go } from '@/browser/navigation'
import { openPrompt } from '@/kit/promptDialog'
import { may } from '@/stores/me'
import { attempt, showToast } from '@/stores/toasts'

/** The states that a person gives a thread. */
export const THREAD_STATES = ['discuss', 'implement', 'review', 'done'] as const
export type ThreadState = (typeof THREAD_STATES)[number]

export function useThreadActions(thread: Ref<Thread | undefined>, isClosed: Ref<boolean>, openSettings: () => void) {
  const id = () => thread.value?.id ?? ''
  async function setState(state: ThreadState): Promise<void> {
    const before = THREAD_STATES.find((one) => one === thread.value?.status) ?? state
    if (await attempt(() => setThreadState(id(), { state })))
      showToast(t('threads.stateSet', { state: t(`threads.states.${state}`) }), () => setThreadState(id(), { state: before }))
  }
  const close = () => attempt(() => closeThread(id(), {}), t('threads.closed'))
  async function archive(): Promise<void> {
    const is = thread.value?.status === 'archived'
    await attempt(() => (is ? unarchiveThread(id()) : archiveThread(id())))
    if (!is) showToast(t('threads.archived'), () => unarchiveThread(id()))
  }
  const pin = () => attempt(() => (thread.value?.pinned ? unpinThread(id()) : pinThread(id())))
  async function remove(): Promise<void> {
    if ((await openPrompt({ title: t('threads.deleteSure'), text: t('threads.sure'), yes: t('shell.delete'), danger: true })) === null)
      return
    if (await attempt(() => deleteThread(id()), t('threads.deleted'))) go('/threads')
  }
  const take = () => attempt(() => download(`/api/threads/${id()}/export`, `${thread.value?.topic ?? id()}.md`))
  useKeys([
    { key: '', says: t('threads.settings'), run: openSettings },
    { key: '', says: t('threads.export'), run: take },
    ...THREAD_STATES.map((state) => ({
      key: '',
      says: `${t('threads.state')}: ${t(`threads.states.${state}`)}`,
      can: () => may('chat') && !isClosed.value && thread.value?.status !== state,
      run: () => setState(state),
    })),
    { key: '', says: t('threads.close'), can: () => may('chat') && !isClosed.value, run: close },
    { key: '', says: t('threads.pin'), can: () => may('chat') && !thread.value?.pinned, run: pin },
    { key: '', says: t('threads.unpin'), can: () => may('chat') && !!thread.value?.pinned, run: pin },
    { key: '', says: t('threads.archive'), can: () => may('chat') && thread.value?.status !== 'archived', run: archive },
    { key: '', says: t('threads.unarchive'), can: () => may('chat') && thread.value?.status === 'archived', run: archive },
    { key: '', says: t('threads.delete'), can: () => may('operate'), run: remove },
  ])
  return { setState, close, archive, pin, remove, take }
}
