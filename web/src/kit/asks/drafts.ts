/** Words for an agent that are not sent yet. They outlast a look at another ask, a reload and a restored tab: whoever has
 *  written why not must not find an empty box, in which one key approves. */
import { onBeforeUnmount, ref, watch, type Ref } from 'vue'

import { useAsks } from '@/stores/asks'

const PLACE = 'greenroom.words.'

/** The words for one ask, for as long as it waits. */
export function useDraft(askId: string): Ref<string> {
  const asks = useAsks()
  const place = PLACE + askId
  const text = ref(sessionStorage.getItem(place) ?? '')
  watch(text, (now) => (now ? sessionStorage.setItem(place, now) : sessionStorage.removeItem(place)))
  onBeforeUnmount(() => asks.find(askId)?.state !== 'open' && sessionStorage.removeItem(place))
  return text
}
