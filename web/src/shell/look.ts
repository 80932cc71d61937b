/** Light, dark, or as the system has it. */
import { computed, ref, watchEffect } from 'vue'

export type Look = 'light' | 'dark' | 'system'
const KEPT = 'greenroom.look'
const system = matchMedia('(prefers-color-scheme: dark)')
const systemDark = ref(system.matches)
system.addEventListener('change', (event) => (systemDark.value = event.matches))

export const look = ref<Look>((localStorage.getItem(KEPT) as Look | null) ?? 'system')
export const isDark = computed(() => look.value === 'dark' || (look.value === 'system' && systemDark.value))

watchEffect(() => {
  document.documentElement.dataset.look = isDark.value ? 'dark' : 'light'
  document.body?.classList.toggle('body--dark', isDark.value)
  document.body?.classList.toggle('body--light', !isDark.value)
})

export function setLook(chosen: Look): void {
  look.value = chosen
  localStorage.setItem(KEPT, chosen)
}
