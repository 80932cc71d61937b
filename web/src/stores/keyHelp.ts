import { ref } from 'vue'

/** Whether the list of keys is on the screen. */
export const helpOpen = ref(false)
