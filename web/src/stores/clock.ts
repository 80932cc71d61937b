/** One clock for all ages on the page. */
import { ref } from 'vue'

import { hubNow } from './me'

export const now = ref(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = hubNow()
}, 1_000)
