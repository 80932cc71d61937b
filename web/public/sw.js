// Hears what the hub pushes, shows it, and carries the answer back. It keeps nothing and caches nothing.
// The hub says it in English; a browser that speaks Chinese is told in Chinese.
const CHINESE = {
  'A question': '有提问',
  'A report': '有汇报',
  'A call waits for leave': '有调用等待许可',
  'A decision waits for you': '有决策等你处理',
  'A gate waits for you': '有关卡等你处理',
  'Soon refused by silence': '即将因沉默被拒绝',
  'The hub did not answer: open the ask to see whether your answer arrived.': '中枢没有应答：请打开请求，看您的回复是否已送达。',
  Approve: '批准',
  Deny: '拒绝',
}
const told = (text) => (navigator.language.startsWith('zh') && CHINESE[text]) || text

/** High risk is looked at first: its notification opens the page, and answers nothing. */
const isAnswerable = (said) => said.risk !== 'high' && !!said.ticket && !!said.actions?.length

/** How long notifications must have stood still before their buttons answer: one that comes up or goes away moves those beside
 *  it, and a click that was under way, such as the second of a double click, was meant for something else. Devices take a while
 *  to draw it. */
const READ_MS = 1_500
let goneAt = 0
async function isRead(notification, wentAt) {
  const now = Date.now()
  const all = [notification, ...(await registration.getNotifications())].map((one) => one.data?.shown_at ?? 0)
  return [wentAt, ...all].every((at) => now - at >= READ_MS)
}

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))

addEventListener('push', (event) => {
  const said = event.data ? event.data.json() : {}
  event.waitUntil(
    registration.showNotification(said.title ?? 'Greenroom', {
      body: told(said.body ?? ''),
      tag: said.ask_id || 'greenroom',
      icon: '/icon-192.png',
      badge: '/icon-192.png',
      requireInteraction: said.risk === 'high',
      actions: isAnswerable(said) ? said.actions.map((one) => ({ ...one, title: told(one.title) })) : [],
      data: { ...said, shown_at: Date.now() },
    }),
  )
})

addEventListener('notificationclick', (event) => {
  const wentAt = goneAt
  goneAt = Date.now()
  event.notification.close()
  event.waitUntil(act(event, wentAt))
})
addEventListener('notificationclose', () => (goneAt = Date.now()))

async function act({ notification, action }, wentAt) {
  const said = notification.data ?? {}
  return action && isAnswerable(said) && (await isRead(notification, wentAt)) ? answer(said, action) : show(said)
}

async function answer(said, verdict) {
  const body = JSON.stringify({ ticket: said.ticket, verdict })
  const headers = { 'content-type': 'application/json' }
  const done = await fetch('/api/notify/act', { method: 'POST', headers, body }).catch(() => null)
  if (done?.ok) return
  const why = done ? (await done.json().catch(() => ({}))).detail : null
  const { title, ask_id } = said
  await registration.showNotification(title, {
    body: why ?? told('The hub did not answer: open the ask to see whether your answer arrived.'),
    tag: ask_id,
    icon: '/icon-192.png',
    data: { ...said, ticket: null, shown_at: Date.now() },
  })
}

async function show(said) {
  const path = said.ask_id ? `/inbox/${said.ask_id}` : '/inbox'
  const open = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  const page = open.find((one) => new URL(one.url).origin === location.origin)
  if (!page) return clients.openWindow(path)
  page.postMessage({ go: path }) // first: a browser may not let us bring the page to the front
  await page.focus()
}
