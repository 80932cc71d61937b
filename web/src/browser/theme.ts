/** Light, dark, or as the system has it. */
import { computed, ref, watchEffect } from 'vue'

export type Theme = 'light' | 'dark' | 'system'
const KEPT = 'greenroom.look'
const system = matchMedia('(prefers-color-scheme: dark)')
const systemDark = ref(system.matches)
system.addEventListener('change', (event) => (systemDark.value = event.matches))

export const theme = ref<Theme>((localStorage.getItem(KEPT) as Theme | null) ?? 'system')
export const isDark = computed(() => theme.value === 'dark' || (theme.value === 'system' && systemDark.value))

watchEffect(() => {
  document.documentElement.dataset.look = isDark.value ? 'dark' : 'light'
  document.body?.classList.toggle('body--dark', isDark.value)
  document.body?.classList.toggle('body--light', !isDark.value)
})

export function setTheme(chosen: Theme): void {
  theme.value = chosen
  localStorage.setItem(KEPT, chosen)
}
