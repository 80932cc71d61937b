/** Whether somebody can see the page. */
import { ref } from 'vue'

export const isPageVisible = ref(!document.hidden)
document.addEventListener('visibilitychange', () => (isPageVisible.value = !document.hidden))
