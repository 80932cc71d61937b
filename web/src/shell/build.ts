/** Which build of the page this is, and whether the hub has a newer one. */
import { ref } from 'vue'

export const build = document.querySelector<HTMLMetaElement>('meta[name=greenroom-build]')?.content ?? ''
export const outdated = ref(false)

const SAID = ['page_outdated', 'digest_needed']
/** Note a refusal that only a newer page can avoid. */
export const noteRefusal = (code: string): void => {
  if (SAID.includes(code)) outdated.value = true
}
