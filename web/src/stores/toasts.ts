/** Short words at the edge of the screen, with a way back where there is one. */
import { reactive } from 'vue'

import { ApiError } from '@/api/http'
import { t } from '@/browser/i18n'

export interface Toast {
  id: number
  text: string
  kind: 'said' | 'failed'
  undo?: () => unknown
}

export const toasts = reactive<Toast[]>([])
const MOST = 3
let number = 0

export function dismiss(id: number): void {
  const at = toasts.findIndex((toast) => toast.id === id)
  if (at >= 0) toasts.splice(at, 1)
}

/** Words without where files are on the machine of the hub or of an agent: of a path only the name is left. */
const PATH = /(?<![\w.:/…~-])~?(?:\/[^\s/'"`“”「」:;,()]+){2,}\/?/g
const withoutPaths = (text: string): string => text.replace(PATH, (path) => `…/${path.split('/').findLast(Boolean)}`)

function show(toast: Omit<Toast, 'id'>, ms: number): number {
  const id = ++number
  toasts.push({ ...toast, text: withoutPaths(toast.text), id })
  while (toasts.length > MOST) toasts.shift()
  setTimeout(() => dismiss(id), ms)
  return id
}

export const showToast = (text: string, undo?: () => unknown): number => show({ text, kind: 'said', undo }, undo ? 7_000 : 4_000)

export function showError(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return
  if (!(error instanceof ApiError)) console.error(error)
  const isSentence = error instanceof Error && (error instanceof ApiError || error.constructor === Error)
  show({ text: isSentence ? error.message : t('shell.wentWrong'), kind: 'failed' }, 9_000)
}

/** Do something, and say what went wrong if it did. */
export async function attempt<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const result = await work()
    if (done) showToast(done)
    return result
  } catch (error) {
    showError(error)
    return undefined
  }
}
