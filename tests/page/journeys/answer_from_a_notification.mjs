/** Pushes as the hub has sealed them, given to a real service worker: buttons answer, a click opens the ask. */
import { WAIT_S, api, assert, hub, journey, pause, until, within } from './rig.mjs'

const READ_MS = 1_500
const SOON_MS = 1_200
const pushes = JSON.parse(hub.pushes)

await journey(async (visit) => {
  const page = await visit()
  await page.context().grantPermissions(['notifications'], { origin: hub.url })
  const scope = await page.evaluate(async () => (await navigator.serviceWorker.ready).scope)
  const cdp = await page.context().newCDPSession(page)
  const registration = new Promise((resolve) =>
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const found = registrations.find((one) => one.scopeURL === scope)
      if (found) resolve(found.registrationId)
    }),
  )
  await cdp.send('ServiceWorker.enable')
  const registrationId = await registration
  const worker = page.context().serviceWorkers()[0] ?? (await page.context().waitForEvent('serviceworker'))

  /** Deliver a push, and what is shown then. A browser drops one now and then, as push services do: it is sent again. */
  const deliver = (said) =>
    until('the notification', async () => {
      await cdp.send('ServiceWorker.deliverPushMessage', { origin: hub.url, registrationId, data: JSON.stringify(said) })
      return worker.evaluate(async (tag) => {
        for (let looks = 0; looks < 100; looks++) {
          const [shown] = await self.registration.getNotifications({ tag })
          if (shown) return { title: shown.title, actions: shown.actions.map((one) => one.action) }
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        return null
      }, said.ask_id)
    })
  /** Click on it: a headless browser draws none, so that the event is made where the browser would make it. */
  const click = (tag, action) =>
    worker.evaluate(
      async ([tag, action]) => {
        const [notification] = await self.registration.getNotifications({ tag })
        self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action }))
      },
      [tag, action],
    )
  /** Wipe it away. */
  const close = (tag) =>
    worker.evaluate(async (tag) => {
      const [notification] = await self.registration.getNotifications({ tag })
      notification.close()
      self.dispatchEvent(new NotificationEvent('notificationclose', { notification }))
    }, tag)
  const over = async (id) => (await api('GET', `/api/asks/${id}/wait?for_s=${WAIT_S}`)).answer

  // What has just come up, and what that has moved, is opened by a button, and not answered.
  const [first, second] = pushes
  for (const said of [first, second])
    await within(SOON_MS, async () => {
      await page.goto(hub.url)
      await deliver(first)
      const from = Date.now()
      await deliver(second)
      await click(said.ask_id, 'approve')
      const took = Date.now() - from
      if (took < SOON_MS) await page.waitForURL(`${hub.url}/inbox/${said.ask_id}`)
      const { state } = await api('GET', `/api/asks/${said.ask_id}`)
      return { took, check: () => assert.equal(state, 'open', `${took} ms after it came up`) }
    })
  // One that goes away lets the next one slide to where it was: a second click is not for that.
  for (const go of ['click', 'close'])
    await within(SOON_MS, async () => {
      await page.goto(hub.url)
      for (const said of [first, second]) await deliver(said)
      await pause(READ_MS)
      const from = Date.now()
      if (go === 'click') await click(first.ask_id, '')
      else await close(first.ask_id)
      await click(second.ask_id, 'approve')
      const took = Date.now() - from
      await pause(READ_MS)
      const { state } = await api('GET', `/api/asks/${second.ask_id}`)
      return { took, check: () => assert.equal(state, 'open', `${took} ms after a ${go} of the one above it`) }
    })
  for (const [said, verdict] of [
    [first, 'approve'],
    [second, 'deny'],
  ]) {
    const shown = await deliver(said)
    assert.deepEqual(shown, { title: said.title, actions: ['approve', 'deny'] })
    await pause(READ_MS)
    await click(said.ask_id, verdict)
    assert.equal((await over(said.ask_id))?.verdict, verdict)
  }
  // Whatever the push offers: high risk is only opened, also by a click on what would be its button.
  const opened = pushes[2]
  assert.equal(opened.actions, undefined)
  const offers = { ...opened, ticket: pushes[0].ticket, actions: pushes[0].actions }
  assert.deepEqual((await deliver(offers)).actions, [], 'what is of high risk is not answered in passing')
  await click(opened.ask_id, 'approve')
  await page.locator('h2, h1', { hasText: opened.title }).first().waitFor()
  await page.goto(hub.url)
  await deliver(opened)
  await click(opened.ask_id, '')
  await page.locator('h2, h1', { hasText: opened.title }).first().waitFor()
  assert.equal(new URL(page.url()).pathname, `/inbox/${opened.ask_id}`)
  assert.equal((await api('GET', `/api/asks/${opened.ask_id}`)).state, 'open', 'nothing was answered')
})
