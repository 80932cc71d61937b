/** Being told on this device, by the browser's push service. */
import { ref } from 'vue'

import { del, get, post } from '@/api/http'
import type { AddedChannel, NotificationSetup } from '@/api/types'
import { t } from '@/browser/i18n'
import { go } from '@/browser/navigation'
import { storedRef } from '@/browser/storedRef'
import { showError, showToast } from './toasts'

export const canPush = 'serviceWorker' in navigator && 'PushManager' in window
export const isPushed = ref(false)
const channel = storedRef<string | null>('push', null)

export async function startWorker(): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  navigator.serviceWorker.addEventListener('message', (event: MessageEvent<{ go?: string }>) => {
    if (event.data.go?.startsWith('/')) go(event.data.go)
  })
  const worker = await navigator.serviceWorker.register('/sw.js')
  isPushed.value = canPush && (await worker.pushManager.getSubscription()) !== null
}

export async function subscribe(): Promise<void> {
  try {
    if ((await Notification.requestPermission()) !== 'granted') throw new Error(t('shell.pushRefused'))
    const { vapid_key } = await get<NotificationSetup>('/api/notify')
    const worker = await navigator.serviceWorker.ready
    const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: vapid_key })
    const { endpoint, keys } = subscription.toJSON()
    const name = navigator.userAgent.includes('Mobile') ? 'phone' : 'browser'
    const added = await post<AddedChannel>('/api/notify/channels', { kind: 'push', name, subscription: { endpoint, keys } })
    channel.value = added.channel.id
    isPushed.value = true
    showToast(t('shell.pushOn'))
  } catch (error) {
    showError(error)
  }
}

export async function unsubscribe(): Promise<void> {
  const worker = await navigator.serviceWorker.ready
  await (await worker.pushManager.getSubscription())?.unsubscribe()
  if (channel.value) await del(`/api/notify/channels/${channel.value}`).catch(showError)
  channel.value = null
  isPushed.value = false
  showToast(t('shell.pushOff'))
}
