/** Whether somebody is at a part of the page: with the mouse over it, a finger last on it, or the focus of the keyboard in it. */
import { computed, onScopeDispose, ref, type ComputedRef } from 'vue'

const KEYS_MS = 10_000

export interface Attention {
  /** For `v-on` of the element. */
  listeners: Record<string, (event: Event) => void>
  isThere: ComputedRef<boolean>
  /** Keys that work from anywhere were used for it. */
  keyed: () => void
  /** Whether the focus is still in it: nobody says when an element goes that had it. */
  look: () => void
}

export function useAttention(): Attention {
  const isPointed = ref(false)
  const isFocused = ref(false)
  const isTouched = ref(false)
  const isKeyed = ref(false)
  let element: Element | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function look(): void {
    const focused = document.activeElement
    isFocused.value = !!focused && !!element?.contains(focused) && focused.matches(':focus-visible')
  }
  const isHover = (event: Event) => (event as PointerEvent).pointerType !== 'touch'
  const listeners = {
    pointerenter: (event: Event) => {
      element = event.currentTarget as Element
      if (isHover(event)) isPointed.value = true
    },
    pointerleave: (event: Event) => isHover(event) && (isPointed.value = false),
    pointerdown: (event: Event) => {
      element = event.currentTarget as Element
      if (!isHover(event)) isTouched.value = true
    },
    focusin: (event: Event) => {
      element = event.currentTarget as Element
      look()
    },
    focusout: () => (isFocused.value = false),
  }
  const touchElsewhere = (event: Event) => !element?.contains(event.target as Node) && (isTouched.value = false)
  addEventListener('pointerdown', touchElsewhere, { capture: true })
  onScopeDispose(() => {
    clearTimeout(timer)
    removeEventListener('pointerdown', touchElsewhere, { capture: true })
  })
  return {
    listeners,
    isThere: computed(() => isPointed.value || isFocused.value || isTouched.value || isKeyed.value),
    keyed: () => {
      isKeyed.value = true
      clearTimeout(timer)
      timer = setTimeout(() => (isKeyed.value = false), KEYS_MS)
    },
    look,
  }
}
