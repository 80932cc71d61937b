/** A text into the clipboard, also at addresses that the browser does not trust, where pages are given none. */
import { t } from '@/browser/i18n'
import { showError, showToast } from '@/stores/toasts'

export async function copyText(text: string): Promise<void> {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text)
    else copyByCommand(text)
    showToast(t('shell.copied'))
  } catch (error) {
    showError(error)
  }
}

function copyByCommand(text: string): void {
  const give = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', give)
  const done = document.execCommand('copy')
  document.removeEventListener('copy', give)
  if (!done) throw new Error(t('shell.notCopied'))
}
