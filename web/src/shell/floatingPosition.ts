/** Where something that floats above the page hides least of it: no field to write in, no button, as little text as can be. */
import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

export interface Box {
  left: number
  top: number
  width: number
  height: number
}
interface Size {
  width: number
  height: number
}
/** What is not to be hidden, and how bad it would be to hide one pixel of it. */
interface Kept {
  box: Box
  weight: number
}

const STEPS = 10
const MARGIN = 12
const LOOK_MS = 150
/** What must not be hidden (what one writes in and sends with), what should not, and what had better not. */
const MUST = 40
const SHOULD = 8
const KEPT: [string, number][] = [
  ['form, textarea, [data-do], button.main, .foot, .connection', MUST],
  ['button, input, select, summary', SHOULD],
  ['a', 2],
  ['h1, h2, h3, p, .markdown', 0.3],
]

const overlap = (a: Box, b: Box): number =>
  Math.max(0, Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top))

/** The place in an area that hides least; of equal ones the nearest to a corner. */
function bestPlace(size: Size, area: Box, kept: Kept[], corner: { x: number; y: number }): Box {
  const [room, fall] = [Math.max(0, area.width - size.width), Math.max(0, area.height - size.height)]
  let best: { box: Box; cost: number; far: number } | null = null
  for (let x = 0; x <= STEPS; x++)
    for (let y = 0; y <= STEPS; y++) {
      const box = { ...size, left: area.left + (room * x) / STEPS, top: area.top + (fall * y) / STEPS }
      const cost = kept.reduce((sum, one) => sum + overlap(box, one.box) * one.weight, 0)
      const far = Math.abs(x / STEPS - corner.x) + Math.abs(y / STEPS - corner.y)
      if (!best || cost < best.cost || (cost === best.cost && far < best.far)) best = { box, cost, far }
    }
  return best!.box
}

/** What fills much of the screen cannot be kept clear as a whole; what is in it is looked at by itself. */
function findKept(own: HTMLElement, others: string, about: Element | null): Kept[] {
  const found: Kept[] = about ? [{ box: about.getBoundingClientRect(), weight: MUST }] : []
  for (const [what, weight] of KEPT)
    for (const one of document.querySelectorAll(what))
      if (!own.contains(one) && !one.closest(others)) found.push({ box: one.getBoundingClientRect(), weight })
  return found.filter(({ box }) => box.width * box.height < (innerWidth * innerHeight) / 3)
}

interface Options {
  /** Where it may stand. */
  within: () => Element | null
  /** What floats too, and gives way to this. */
  others: string
  /** Where it stands if there is room everywhere: from 0 to 1, left to right and top to bottom. */
  corner: { x: number; y: number }
  /** What it belongs to, and must not hide. */
  about?: () => Element | null
  /** After each look. */
  looked?: (fits: (size: Size) => boolean) => void
}
/** Keeps a floating element where it hides least. It stays where it is as long as it hides no control there. */
export function useFloatingPosition(element: Ref<HTMLElement | null>, options: Options) {
  const place = ref<Box | null>(null)
  function look(anew = false): void {
    const own = element.value
    const around = options.within()?.getBoundingClientRect()
    const size = own?.getBoundingClientRect()
    if (!own || !around || !size?.height) return void (place.value = null)
    const [width, height] = [around.width - 2 * MARGIN, around.height - 2 * MARGIN]
    const area = { left: around.left + MARGIN, top: around.top + MARGIN, width, height }
    const kept = findKept(own, options.others, options.about?.() ?? null)
    const hides = (box: Box, least: number) => kept.some((one) => one.weight >= least && overlap(box, one.box) > 0)
    const best = (of: Size) => bestPlace({ width: of.width, height: of.height }, area, kept, options.corner)
    const now = place.value && { ...place.value, width: size.width, height: size.height }
    const isWithin = now && overlap(now, area) >= now.width * now.height - 1
    if (anew || !now || !isWithin || hides(now, SHOULD)) place.value = best(size)
    options.looked?.((of) => !hides(best(of), MUST))
  }
  const timer = setInterval(look, LOOK_MS)
  onMounted(look)
  onBeforeUnmount(() => clearInterval(timer))
  return { place, look }
}
