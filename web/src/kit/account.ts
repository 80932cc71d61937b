/** What people do with their own login: rename themselves and log out. */
import { t } from '@/browser/i18n'
import { redirectToLogin } from '@/api/http'
import { forgetKey, keyHeaders } from '@/api/pageKey'
import { may, me, myName, offeredName, setMyName } from '@/stores/me'
import { attempt } from '@/stores/toasts'
import { openPrompt } from './promptDialog'

/** Operators have a name at the hub, and people of a room have one in this browser. A viewer has none. */
export const canRename = (): boolean => may('operate') || !!me.room

export async function rename(): Promise<void> {
  const value = me.person || (me.room ? myName.value : offeredName())
  const name = await openPrompt({ title: t('shell.nickname'), text: t('shell.nicknameText'), value, yes: t('shell.save') })
  if (name?.trim()) await attempt(() => setMyName(name))
}

export async function logOut(): Promise<void> {
  await fetch('/logout', { method: 'POST', redirect: 'manual', headers: keyHeaders() })
  forgetKey()
  redirectToLogin('/login')
}
