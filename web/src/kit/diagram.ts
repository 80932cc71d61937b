/** Mermaid diagrams, drawn in a sandboxed frame and shown as pictures: what draws them reaches nothing here. */
import { isDark } from '@/browser/theme'

interface Heard {
  ready?: boolean
  id?: number
  svg?: string
  problem?: string
}

let frame: Promise<HTMLIFrameElement> | null = null
let number = 0
const waiting = new Map<number, HTMLElement>()

function open(): Promise<HTMLIFrameElement> {
  return (frame ??= new Promise((resolve) => {
    const made = document.createElement('iframe')
    made.setAttribute('sandbox', 'allow-scripts')
    made.setAttribute('aria-hidden', 'true')
    made.tabIndex = -1
    made.title = 'diagrams'
    made.className = 'diagram-frame'
    made.src = '/diagram.html'
    addEventListener('message', (event: MessageEvent<Heard>) => {
      if (event.source !== made.contentWindow) return
      if (event.data.ready) resolve(made)
      else if (event.data.id !== undefined) show(event.data)
    })
    document.body.append(made)
  }))
}

function show({ id, svg, problem }: Heard): void {
  const place = waiting.get(id!)
  waiting.delete(id!)
  if (!place?.isConnected) return
  if (!svg) {
    place.title = problem ?? ''
    return
  }
  const picture = document.createElement('img')
  picture.alt = place.textContent ?? ''
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  place.replaceChildren(picture)
}

/** Replace the source of each diagram by its picture; what cannot be drawn stays as it is written. */
export async function drawDiagrams(places: HTMLElement[]): Promise<void> {
  const { contentWindow } = await open()
  for (const place of places) {
    const text = place.querySelector('code')?.textContent
    if (!text || text.length > 20_000) continue
    waiting.set(++number, place)
    contentWindow?.postMessage({ id: number, text, dark: isDark.value }, '*')
  }
}
