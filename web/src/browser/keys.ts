/** Keys that do something: the newest binding of a key wins, and nothing happens while somebody types.
 *  A key that is held down repeats only what moves about; it never does anything twice. */
import { onScopeDispose, reactive } from 'vue'

export interface Binding {
  /** As in 'j', '?', 'shift+x', 'ctrl+k', 'g i'. Ctrl is also the Mac's command key. Without one it is in the palette only. */
  key: string
  /** What the help says. */
  says: string
  run: (event: KeyboardEvent) => unknown
  /** Also while somebody types. */
  always?: boolean
  /** Only while the focus is inside this element; the help lists it all the same. */
  within?: () => HTMLElement | null
  hidden?: boolean
  /** Moves about rather than doing something: the palette leaves it out. */
  moves?: boolean
  /** What it is about: the palette does not do to one thing what was chosen for another. */
  about?: () => string
  /** What the palette does instead: what answers somebody asks by name first, for a few letters choose no call. */
  choose?: () => unknown
  /** Whether it can be done just now. */
  can?: () => boolean
  /** Also while a dialog or a menu is open, which otherwise keep the keys from what they cover. */
  above?: boolean
  /** It does the same in every panel. */
  everywhere?: boolean
}

const isMac = /mac|iphone|ipad/i.test(navigator.platform)
const NAMES: Record<string, string> = {
  ctrl: isMac ? '⌘' : 'Ctrl',
  shift: '⇧',
  Enter: '↵',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
}
/** A key as it is shown, part by part. */
export const formatKeyParts = (key: string): string[] =>
  key
    .split(/[+ ]/)
    .filter(Boolean)
    .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))

export const bindings = reactive<Binding[]>([])
let first = ''
let firstAt = 0
const PAIR_MS = 900

/** The field that somebody is in, as long as nothing ended that; and whether what they type goes on after it has gone. */
let field: Element | null = null
let isGoingOn = false
let typedAt = 0
const WORDS_MS = 2_000
const ENDS = new Set(['Enter', 'Escape', 'Tab'])

/** Whether a key is one of the words that somebody types into a field which has gone meanwhile. */
function isForGoneField(event: KeyboardEvent, typing: boolean): boolean {
  const isNewLine = event.key === 'Enter' && event.target instanceof HTMLTextAreaElement
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && (isNewLine || !ENDS.has(event.key))
  const wasLeft = !field || field.isConnected || !isPlain || typing
  const isGone = !wasLeft && (!isGoingOn || Date.now() - typedAt < WORDS_MS)
  if (isGone) typedAt = Date.now()
  isGoingOn = isGone
  if (!isGone) field = typing && isPlain ? (event.target as Element) : null
  return isGone
}

addEventListener('focusin', (event) => isTyping(event.target) && (field = event.target as Element), { capture: true, passive: true })
addEventListener('pointerdown', () => (field = null), { capture: true, passive: true })

/** The last two letters, typed in a field or not. */
interface Letter {
  at: number
  target: EventTarget | null
}
const letters: [before: Letter, last: Letter] = [
  { at: -Infinity, target: null },
  { at: -Infinity, target: null },
]
const LETTER_MS = 700
/** What waits to hear whether the last letter was alone. */
let waiting: ((isAlone: boolean) => void) | null = null
const ALONE_MS = 500
const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock'])
function noteKey(event: KeyboardEvent): void {
  if (event.repeat || MODIFIERS.has(event.key)) return
  const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
  if (isLetter) {
    letters.push({ at: event.timeStamp, target: event.target })
    letters.shift()
  }
  waiting?.(!isTyping(event.target) && bindings.some((one) => one.moves && one.key === event.key))
}
/** Hear whether a letter that was just pressed stays alone, or is the first one of a word, or of an answer to another program
 *  that Enter ends. A key that only moves about belongs to no word. */
export function onSingleKey(hear: (isAlone: boolean) => void): void {
  const timer = setTimeout(() => waiting?.(true), ALONE_MS)
  waiting = (isAlone) => {
    clearTimeout(timer)
    waiting = null
    hear(isAlone)
  }
}
/** Whether a key is one of several letters in a row: they are words, whatever they were meant for. */
export const isInWord = (event: KeyboardEvent): boolean => event.timeStamp - letterBefore(event).at < LETTER_MS
/** The same for a key that presses a button, such as the space between two words. Whoever wrote elsewhere and has gone to the
 *  button since means the button. */
export const isInWordOnButton = (event: KeyboardEvent): boolean => isInWord(event) && letterBefore(event).target === event.target
/** A button hears of a key before it is noted here. */
const letterBefore = ({ timeStamp }: KeyboardEvent): Letter => (letters[1].at === timeStamp ? letters[0] : letters[1])

function nameOf(event: KeyboardEvent): string {
  const plain = event.key.length === 1 ? event.key.toLowerCase() : event.key
  const shift = event.shiftKey && (event.key.length > 1 || /[a-z0-9]/i.test(event.key)) ? 'shift+' : ''
  return `${event.ctrlKey || event.metaKey ? 'ctrl+' : ''}${event.altKey ? 'alt+' : ''}${shift}${plain}`
}

export function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null
  return !!element?.closest?.('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true], .xterm')
}

addEventListener('keydown', (event) => {
  noteKey(event)
  const typing = isTyping(event.target)
  if (isForGoneField(event, typing) || event.defaultPrevented || event.isComposing) return
  const name = nameOf(event)
  const isSecond = Date.now() - firstAt < PAIR_MS && first !== '' && bindings.some((one) => one.key.startsWith(`${first} `))
  const pair = isSecond ? `${first} ${name}` : ''
  const isInside = (binding: Binding) => !binding.within || !!binding.within()?.contains(event.target as Node)
  const isCovered = document.querySelector('.q-dialog--modal, .q-menu') !== null
  const isPressed = (binding: Binding) => binding.key !== '' && binding.key === (pair || name) // the second key alone means nothing
  const fits = (binding: Binding) =>
    isPressed(binding) && (!typing || binding.always) && (!isCovered || binding.above) && isInside(binding) && binding.can?.() !== false
  const binding = bindings.findLast(fits)
  first = typing ? '' : name
  firstAt = Date.now()
  if (!binding) return
  if (event.repeat && !binding.moves) return event.preventDefault()
  if (binding.run(event) === false) return
  event.preventDefault()
})

export function useKeys(list: Binding[]): void {
  bindings.push(...list)
  onScopeDispose(() => {
    for (const one of list) {
      const at = bindings.findIndex((held) => held.run === one.run && held.key === one.key)
      if (at >= 0) bindings.splice(at, 1)
    }
  })
}
