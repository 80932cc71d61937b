/** An ask that is answered on one page is over on the other at once, and whoever clicks there all the same is told. */
import { api, assert, denyAll, hold, hub, isStill, journey, middleOf, askOf, endOf, raise, reach, startRun, stateOf } from './rig.mjs'

/** A page whose news can be held back, as on a slow line. */
async function slow(page) {
  let held = null
  await page.routeWebSocket(/\/sync/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((frame) => (held ? held.push(() => socket.send(frame)) : socket.send(frame)))
  })
  return {
    hold: () => (held = []),
    release: () => {
      for (const send of held) send()
      held = null
    },
  }
}

await journey(async (visit, _, pages) => {
  await denyAll()
  const [first, second] = [await visit(), await visit()]
  const run = await startRun('SHELL python3 -c "print(\'once-only\')"\nSAY done')
  const ask = await askOf(run)
  for (const page of [first, second]) {
    await page.goto(`${hub.url}/inbox/${ask.id}`)
    await page.locator('[data-do=approve]').waitFor()
  }
  await hold(first, first.locator('[data-do=approve]'))
  await second
    .locator('.ask.over', { has: second.locator(`a[href="/inbox/${ask.id}"]`) })
    .getByText('Approved')
    .last()
    .waitFor()
  await second.locator('.toast', { hasText: 'approved' }).waitFor()
  await second.locator('.given', { hasText: 'Approved' }).waitFor()
  assert.equal(await second.locator('.detail :is([data-do=approve], [data-do=deny])').count(), 0, 'nothing more can be done with it')
  await endOf(run.id)

  // On Home it stays in its place, with what was answered, while somebody points at it.
  const both = [await raise('answered elsewhere'), await raise('waits on')]
  const row = (one) => second.locator('.need', { has: second.locator(`a[href="/inbox/${one.id}"]`) })
  await second.goto(hub.url)
  await row(both[1]).waitFor()
  await row(both[0]).hover()
  const still = await isStill(row(both[1]))
  const place = await middleOf(row(both[0]).locator('[data-do=approve]'))
  await second.mouse.move(place.x, place.y)
  await second.mouse.down()
  await api('POST', `/api/asks/${both[0].id}/answer`, { verdict: 'deny' })
  await row(both[0]).getByText('Denied').last().waitFor()
  await second.mouse.up()
  await second.mouse.click(place.x, place.y)
  await still('nothing has moved')
  assert.equal(await stateOf(both[1]), 'open')

  // A click on its way when the news has not come yet: whoever clicked is told, and the buttons are dead.
  const line = await slow(second)
  for (const path of ['/', `/inbox/${both[1].id}`]) {
    const late = path === '/' ? await raise('too late on Home') : both[1]
    await second.goto(hub.url + path)
    const where = path === '/' ? row(late) : second.locator('.detail')
    await reach(where.locator('[data-do=approve]'))
    line.hold()
    await api('POST', `/api/asks/${late.id}/answer`, { verdict: 'deny', name: 'Ann' })
    await where.locator('[data-do=approve]').click()
    await where.getByText('Your answer was not sent. Ann answered this already').first().waitFor()
    const approve = where.locator('[data-do=approve]')
    if (await approve.count()) assert.equal(await approve.getAttribute('aria-disabled'), 'true')
    assert.match(pages[1].complaints.pop(), /409/, 'the browser itself takes note of a refusal')
    line.release()
    await where.getByText('Denied').last().waitFor()
  }
})
