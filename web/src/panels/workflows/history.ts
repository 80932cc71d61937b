/** What was written in an editor, step by step, so that each can be undone and redone. */
import { computed, ref } from 'vue'

/** A text, and the step of the workflow that was chosen then. */
export interface Moment {
  text: string
  chosen: string
}

const MOST = 300
/** Whoever goes on typing in the same place within this time goes on with the same step. */
const PAUSE_MS = 1000
const linesOf = (text: string) => text.split('\n').length

export function useHistory() {
  const now = ref<Moment>({ text: '', chosen: '' })
  const past = ref<Moment[]>([])
  const future = ref<Moment[]>([])
  let typedIn = ''
  let typedAt = 0

  function reset(text: string): void {
    now.value = { ...now.value, text }
    past.value = []
    future.value = []
    typedIn = ''
  }
  /** Write a text. `place` is where somebody types: one field, one line and no pause make one step together. */
  function write(text: string, chosen: { before: string; after: string }, place = ''): void {
    if (text === now.value.text) return
    const goesOn = place !== '' && place === typedIn && Date.now() - typedAt < PAUSE_MS && linesOf(text) === linesOf(now.value.text)
    if (!goesOn) past.value = [...past.value, { ...now.value, chosen: chosen.before }].slice(-MOST)
    future.value = []
    now.value = { text, chosen: chosen.after }
    typedIn = place
    typedAt = Date.now()
  }
  function step(from: typeof past, to: typeof past, chosen: string): boolean {
    const next = from.value.at(-1)
    if (!next) return false
    from.value = from.value.slice(0, -1)
    to.value = [...to.value, { ...now.value, chosen }]
    now.value = next
    typedIn = ''
    return true
  }
  return {
    now,
    reset,
    write,
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
    undo: (chosen: string) => step(past, future, chosen),
    redo: (chosen: string) => step(future, past, chosen),
  }
}
