/** What the palette offers everywhere. */
import { Bell, BellOff, Footprints, Keyboard, Languages, LogOut, Moon, RefreshCw, Sun, SunMoon, UserRound } from '@lucide/vue'

import { redirectToLogin } from '@/api/http'
import { forgetKey, keyHeaders } from '@/api/pageKey'
import { sync } from '@/sync/useView'
import { LANGUAGES, language, setLanguage, t, type Language } from './i18n'
import { setTheme } from './theme'
import { openPrompt } from './promptDialog'
import { may, me, myName, offeredName, setMyName } from './me'
import type { PaletteCommand } from './panel'
import { helpOpen } from './help'
import { attempt } from './toasts'
import { startTour } from './tour'
import { canPush, isPushed, subscribe, unsubscribe } from './push'

export function shellCommands(): PaletteCommand[] {
  const looks = [
    ['light', Sun],
    ['dark', Moon],
    ['system', SunMoon],
  ] as const
  const others = (Object.keys(LANGUAGES) as Language[]).filter((one) => one !== language.value)
  return [
    { id: 'help', title: t('shell.keys'), icon: Keyboard, keys: '?', run: () => (helpOpen.value = true) },
    ...(may('operate') ? [{ id: 'tour', title: t('tour.start'), icon: Footprints, run: startTour }] : []),
    ...looks.map(([one, icon]) => ({ id: `look ${one}`, title: t(`shell.look.${one}`), icon, run: () => setTheme(one) })),
    ...others.map((one) => ({ id: `language ${one}`, title: LANGUAGES[one], hint: t('shell.language'), icon: Languages, run: () => setLanguage(one) })),
    ...(canRename() ? [{ id: 'nickname', title: t('shell.nickname'), hint: myName.value, icon: UserRound, run: rename }] : []),
    ...(canPush ? [isPushed.value ? { id: 'push', title: t('shell.notifyNoMore'), icon: BellOff, run: unsubscribe } : { id: 'push', title: t('shell.notifyHere'), icon: Bell, run: subscribe }] : []),
    { id: 'reconnect', title: t('shell.reconnect'), icon: RefreshCw, run: () => sync.again() },
    { id: 'logout', title: t('shell.logOut'), icon: LogOut, run: logOut },
  ]
}

/** Operators have a name at the hub, and people of a room one in this browser; a viewer has none. */
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
