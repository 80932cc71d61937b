/** Words beside a control that took no input: why it did not, and what to do. */
import { shallowRef } from 'vue'

import { t } from '@/browser/i18n'
import type { PressRejection } from './pressGuard'
import { isTouchInput } from './usePressGuard'

export interface PressNote {
  /** Tells one from the next that says the same. */
  number: number
  text: string
  /** Where the control is. */
  at: DOMRect
}

const SHOWN_MS = 5_000
export const pressNote = shallowRef<PressNote | null>(null)
let number = 0
let timer: ReturnType<typeof setTimeout> | undefined

export function hidePressNote(): void {
  pressNote.value = null
}
export function showPressNote(element: Element | null | undefined, why: PressRejection | 'unread'): void {
  if (!element) return
  const text = t(`shell.notTaken.${why === 'resting' && isTouchInput() ? 'finger' : why}`)
  pressNote.value = { number: ++number, text, at: element.getBoundingClientRect() }
  clearTimeout(timer)
  timer = setTimeout(hidePressNote, SHOWN_MS)
}
