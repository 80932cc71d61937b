/** Which build of the page this is, and whether the hub has a newer one. */
import { ref } from 'vue'

export const build = document.querySelector<HTMLMetaElement>('meta[name=greenroom-build]')?.content ?? ''
export const outdated = ref(false)

/** Refusals that only a newer page avoids. */
const OUTDATED_CODES = new Set(['page_outdated', 'digest_needed'])

export const noteRefusal = (code: string): void => {
  if (OUTDATED_CODES.has(code)) outdated.value = true
}
