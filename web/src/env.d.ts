/// <reference types="vite/client" />
import 'vue'

declare module 'vue' {
  interface ComponentCustomProperties {
    /** What the hub says, in the page's language. */
    $renderWords: (typeof import('@/browser/sentences'))['renderWords']
  }
}
