/** Short words at the edge of the screen, with a way back where there is one. */
import { reactive } from 'vue'

import { ApiError } from '@/api/http'

export interface Toast {
  id: number
  text: string
  kind: 'said' | 'failed'
  undo?: () => unknown
}

export const toasts = reactive<Toast[]>([])
let number = 0

export function dismiss(id: number): void {
  const at = toasts.findIndex((toast) => toast.id === id)
  if (at >= 0) toasts.splice(at, 1)
}

function show(toast: Omit<Toast, 'id'>, ms: number): number {
  const id = ++number
  toasts.push({ ...toast, id })
  if (toasts.length > 4) toasts.shift()
  setTimeout(() => dismiss(id), ms)
  return id
}

export const say = (text: string, undo?: () => unknown): number => show({ text, kind: 'said', undo }, undo ? 7_000 : 4_000)

export function fail(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return
  if (!(error instanceof ApiError)) console.error(error)
  show({ text: error instanceof Error ? error.message : String(error), kind: 'failed' }, 9_000)
}

/** Do something, and say what went wrong if it did. */
export async function attempt<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const result = await work()
    if (done) say(done)
    return result
  } catch (error) {
    fail(error)
    return undefined
  }
}
