/** Whether somebody can see the page. */
import { ref } from 'vue'

export const visible = ref(!document.hidden)
document.addEventListener('visibilitychange', () => (visible.value = !document.hidden))
