/** Keeps what is chosen in a list on the screen, also when a link or a key has chosen it. */
import { nextTick, watch } from 'vue'

/** `chosen` is what is chosen, and whether its list is there yet. */
export function useInSight(chosen: () => readonly [id: string | undefined, isThere: boolean]): void {
  watch(chosen, () => void nextTick(() => document.querySelector('main [aria-current="true"]')?.scrollIntoView({ block: 'nearest' })), { immediate: true })
}
