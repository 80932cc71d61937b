/** What is said aloud, as text, where the browser can hear. */
import { onScopeDispose, ref, type Ref } from 'vue'

import { language } from '@/browser/i18n'

interface Recognition {
  lang: string
  onresult: (event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void
  onend: () => void
  onerror: () => void
  start(): void
  stop(): void
}
const known = globalThis as unknown as Record<string, (new () => Recognition) | undefined>
const Hears = known.SpeechRecognition ?? known.webkitSpeechRecognition

/** No browser gives a microphone to an address that it does not trust. */
export const hasSpeechInput = isSecureContext && Boolean(Hears)

/** Begin to listen, or stop; `told` gets each phrase. */
export function useSpeechInput(told: (text: string) => void): { isHearing: Ref<boolean>; listen: () => void } {
  const isHearing = ref(false)
  let one: Recognition | null = null
  function listen(): void {
    if (one) return one.stop()
    if (!Hears) return
    const made = new Hears()
    made.lang = language.value
    made.onresult = ({ results }) => told(results[results.length - 1]?.[0]?.transcript.trim() ?? '')
    made.onend = made.onerror = () => {
      one = null
      isHearing.value = false
    }
    one = made
    isHearing.value = true
    made.start()
  }
  onScopeDispose(() => one?.stop())
  return { isHearing, listen }
}
