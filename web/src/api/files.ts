/** Files of the hub as a browser shows them: fetched with the page's key, for a plain link or picture cannot send it. */
import { keyHeaders } from './pageKey'

const SHOWN = /^(image\/(png|jpeg|gif|webp)|audio\/[\w.+-]+)$/
const MOST = 200
const kept = new Map<string, Promise<string>>()

/** An address for a file that lives as long as the page. What is no picture and no sound can only be downloaded. */
export function fetchFileUrl(path: string): Promise<string> {
  let url = kept.get(path)
  if (!url) {
    url = load(path)
    kept.set(path, url)
    url.catch(() => kept.delete(path))
    if (kept.size > MOST) forget(kept.keys().next().value!)
  }
  return url
}

async function load(path: string): Promise<string> {
  const answer = await fetch(path, { headers: keyHeaders() })
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  return URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: SHOWN.test(type) ? type : 'application/octet-stream' }))
}

function forget(path: string): void {
  const url = kept.get(path)
  kept.delete(path)
  void url?.then((made) => URL.revokeObjectURL(made))
}

/** Save a file on this device. */
export async function download(path: string, name: string): Promise<void> {
  const link = document.createElement('a')
  link.href = await fetchFileUrl(path)
  link.download = name
  link.click()
  setTimeout(() => forget(path), 10_000)
}
