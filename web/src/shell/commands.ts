/** What the palette offers everywhere. */
import { Bell, BellOff, Footprints, Keyboard, Languages, LogOut, Moon, RefreshCw, Sun, SunMoon, UserRound } from '@lucide/vue'

import { toLogin } from '@/api/http'
import { sync } from '@/sync/use'
import { LANGUAGES, language, setLanguage, t, type Language } from './i18n'
import { setLook } from './look'
import { askFor } from './askFor'
import { may, nickname } from './me'
import type { PaletteCommand } from './panel'
import { helpOpen } from './help'
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
    ...looks.map(([one, icon]) => ({ id: `look ${one}`, title: t(`shell.look.${one}`), icon, run: () => setLook(one) })),
    ...others.map((one) => ({ id: `language ${one}`, title: LANGUAGES[one], hint: t('shell.language'), icon: Languages, run: () => setLanguage(one) })),
    { id: 'nickname', title: t('shell.nickname'), hint: nickname.value, icon: UserRound, run: rename },
    ...(canPush ? [isPushed.value ? { id: 'push', title: t('shell.notifyNoMore'), icon: BellOff, run: unsubscribe } : { id: 'push', title: t('shell.notifyHere'), icon: Bell, run: subscribe }] : []),
    { id: 'reconnect', title: t('shell.reconnect'), icon: RefreshCw, run: () => sync.again() },
    { id: 'logout', title: t('shell.logOut'), icon: LogOut, run: logOut },
  ]
}

export async function rename(): Promise<void> {
  const name = await askFor({ title: t('shell.nickname'), text: t('shell.nicknameText'), value: nickname.value, yes: t('shell.save') })
  if (name !== null) nickname.value = name.trim().slice(0, 64)
}

export async function logOut(): Promise<void> {
  await fetch('/logout', { method: 'POST', redirect: 'manual' })
  toLogin('/login')
}
