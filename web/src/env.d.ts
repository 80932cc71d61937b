/// <reference types="vite/client" />
import 'vue'

declare module 'vue' {
  interface ComponentCustomProperties {
    /** What the hub says, in the page's language. */
    $told: (typeof import('@/browser/sentences'))['renderWords']
    /** The same for words that may be somebody else's. */
    $heard: (typeof import('@/browser/sentences'))['renderMixedWords']
  }
}
