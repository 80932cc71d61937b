/** What this browser remembers for itself. */
import { customRef, type Ref } from 'vue'

const known = new Map<string, Ref<unknown>>()

export function storedRef<T>(name: string, initial: T): Ref<T> {
  const place = `greenroom.${name}`
  const made = known.get(place)
  if (made) return made as Ref<T>
  let value: T = initial
  try {
    const text = localStorage.getItem(place)
    if (text !== null) value = JSON.parse(text) as T
  } catch {
    localStorage.removeItem(place)
  }
  const ref = customRef<T>((track, trigger) => ({
    get: () => (track(), value),
    set: (next) => {
      value = next
      localStorage.setItem(place, JSON.stringify(next))
      trigger()
    },
  }))
  known.set(place, ref as Ref<unknown>)
  return ref
}
