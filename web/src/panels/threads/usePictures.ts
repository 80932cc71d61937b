/** The pictures of a message that is being written: chosen, pasted or dropped, and uploaded at once. */
import { ref } from 'vue'

import { ApiError, call } from '@/api/http'
import type { KeptImage } from '@/api/types'
import { t } from '@/browser/i18n'
import { attempt, showError } from '@/stores/toasts'

export function usePictures() {
  const images = ref<KeptImage[]>([])
  async function add(files: Iterable<File>): Promise<void> {
    for (const file of [...files]) {
      if (!file.type.startsWith('image/')) {
        showError(new ApiError(415, 'no_picture', t('threads.onlyPictures', { name: file.name })))
        continue
      }
      const form = new FormData()
      form.append('file', file, file.name || 'picture.png')
      const image = await attempt(() => call<KeptImage>('POST', '/api/upload/image', form))
      if (image) images.value = [...images.value, image]
    }
  }
  function pick(event: Event): void {
    const input = event.target as HTMLInputElement
    void add(input.files ?? [])
    input.value = '' // so that the same one can be chosen again
  }
  function paste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])]
    if (!files.length) return
    event.preventDefault()
    void add(files)
  }
  return { images, add, pick, paste }
}
