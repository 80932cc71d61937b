/** What the palette offers everywhere. */
import { Bell, BellOff, Footprints, Keyboard, Languages, LogOut, Moon, RefreshCw, Sun, SunMoon, UserRound } from '@lucide/vue'

import { sync } from '@/sync/useView'
import { LANGUAGES, language, setLanguage, t, type Language } from '@/browser/i18n'
import { setTheme } from '@/browser/theme'
import { may, myName } from '@/stores/me'
import { canRename, logOut, rename } from '@/kit/account'
import type { PaletteCommand } from '@/kit/panel'
import { helpOpen } from '@/stores/keyHelp'
import { startTour } from '@/stores/tour'
import { canPush, isPushed, subscribe, unsubscribe } from '@/stores/push'

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
    ...others.map((one) => ({
      id: `language ${one}`,
      title: LANGUAGES[one],
      hint: t('shell.language'),
      icon: Languages,
      run: () => setLanguage(one),
    })),
    ...(canRename() ? [{ id: 'nickname', title: t('shell.nickname'), hint: myName.value, icon: UserRound, run: rename }] : []),
    ...(canPush
      ? [
          isPushed.value
            ? { id: 'push', title: t('shell.notifyNoMore'), icon: BellOff, run: unsubscribe }
            : { id: 'push', title: t('shell.notifyHere'), icon: Bell, run: subscribe },
        ]
      : []),
    { id: 'reconnect', title: t('shell.reconnect'), icon: RefreshCw, run: () => sync.again() },
    { id: 'logout', title: t('shell.logOut'), icon: LogOut, run: logOut },
  ]
}
