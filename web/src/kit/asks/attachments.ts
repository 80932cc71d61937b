/** Pictures, files and voices that go with an answer. */
import { reactive, ref } from 'vue'

import { t } from '@/browser/i18n'
import { showError } from '@/stores/toasts'

export interface Attachment {
  type: 'image' | 'audio' | 'resource'
  name: string
  mime: string
  data: string
  size: number
  preview?: string
}

/** No browser gives a microphone to an address that it does not trust. */
export const canRecord = isSecureContext && 'MediaRecorder' in window
const MOST_BYTES = 8 << 20

export function useAttachments() {
  const list = reactive<Attachment[]>([])
  const recording = ref(false)
  let recorder: MediaRecorder | null = null

  async function add(files: Iterable<File>): Promise<void> {
    for (const file of [...files]) {
      if (file.size > MOST_BYTES) {
        showError(new Error(t('inbox.tooLarge', { name: file.name })))
        continue
      }
      const url = await asUrl(file)
      const type = file.type.startsWith('image/') ? 'image' : file.type.startsWith('audio/') ? 'audio' : 'resource'
      const mime = file.type || 'application/octet-stream'
      list.push({
        type,
        name: file.name || type,
        mime,
        data: url.slice(url.indexOf(',') + 1),
        size: file.size,
        preview: type === 'image' ? url : undefined,
      })
    }
  }

  function pick(event: Event): void {
    const field = event.target as HTMLInputElement
    void add(field.files ?? [])
    field.value = '' // so that the same one can be chosen again
  }

  function paste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])]
    if (!files.length) return
    event.preventDefault()
    void add(files)
  }

  const drop = (event: DragEvent) => void add(event.dataTransfer?.files ?? [])

  async function record(): Promise<void> {
    if (recorder) return recorder.stop()
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
      const parts: Blob[] = []
      recorder = new MediaRecorder(stream)
      recorder.ondataavailable = (event) => parts.push(event.data)
      recorder.onstop = () => {
        for (const track of stream.getTracks()) track.stop()
        const mime = (recorder?.mimeType ?? 'audio/webm').split(';')[0]!
        recorder = null
        recording.value = false
        void add([new File(parts, `voice.${mime.split('/')[1]}`, { type: mime })])
      }
      recorder.start()
      recording.value = true
    } catch (error) {
      showError(error)
    }
  }

  const contents = () => list.map(({ type, name, mime, data }) => ({ type, name, mime, data }))
  return { list, pick, paste, drop, record, recording, contents }
}
export type Attachments = ReturnType<typeof useAttachments>

const asUrl = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
