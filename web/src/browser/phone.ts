import { ref } from 'vue'

const narrow = matchMedia('(max-width: 720px)')
/** Whether the screen is as narrow as a phone's. */
export const isPhone = ref(narrow.matches)
narrow.addEventListener('change', (event) => (isPhone.value = event.matches))
