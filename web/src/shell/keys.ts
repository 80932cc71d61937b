/** Keys that do something: the newest binding of a key wins, and nothing happens while somebody types. */
import { onScopeDispose, reactive } from 'vue'

export interface Binding {
  /** As in 'j', '?', 'shift+x', 'ctrl+k', 'g i'. Ctrl is also the Mac's command key. Without one it is in the palette only. */
  key: string
  /** What the help says. */
  says: string
  run: (event: KeyboardEvent) => unknown
  /** Also while somebody types. */
  always?: boolean
  hidden?: boolean
  /** Moves about rather than doing something: the palette leaves it out. */
  moves?: boolean
  /** Whether it can be done just now. */
  can?: () => boolean
  /** It does the same in every panel. */
  everywhere?: boolean
}

const NAMES: Record<string, string> = { ctrl: 'Ctrl', shift: '⇧', Enter: '↵', Escape: 'Esc', ArrowUp: '↑', ArrowDown: '↓' }
/** A key as it is shown, part by part. */
export const partsOf = (key: string): string[] => key.split(/[+ ]/).filter(Boolean).map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))

export const bindings = reactive<Binding[]>([])
let first = ''
let firstAt = 0

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
  if (event.defaultPrevented || event.isComposing) return
  const name = nameOf(event)
  const typing = isTyping(event.target)
  const pair = Date.now() - firstAt < 900 ? `${first} ${name}` : ''
  const fits = (binding: Binding) => binding.key !== '' && (binding.key === name || binding.key === pair) && (!typing || binding.always) && binding.can?.() !== false
  const binding = bindings.findLast((one) => fits(one) && one.key === pair) ?? bindings.findLast(fits)
  first = name
  firstAt = Date.now()
  if (!binding) return
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
