/** Keeps what is chosen in a list on the screen, also when a link or a key has chosen it. */
import { nextTick, watch } from 'vue'

/** Whether the middle of an element is on the screen, with nothing over it. */
export function isOnScreen(element: Element): boolean {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
  return !!over && (element.contains(over) || over.contains(element))
}

/** `chosen` is what is chosen, and whether its list is there yet. */
export function useScrollIntoView(chosen: () => readonly [id: string | undefined, isThere: boolean]): void {
  watch(chosen, () => void nextTick(() => document.querySelector('main [aria-current="true"]')?.scrollIntoView({ block: 'nearest' })), {
    immediate: true,
  })
}
