/// <reference types="vite/client" />
import 'vue'

declare module 'vue' {
  interface ComponentCustomProperties {
    /** What the hub says, in the page's language. */
    $told: (typeof import('@/browser/sentences'))['renderWords']
  }
}
