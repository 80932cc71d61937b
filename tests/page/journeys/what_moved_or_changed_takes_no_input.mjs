/** A control that has just moved, or is about something else than a moment ago, takes no input and looks so. */
import {
  KEY_MS,
  api,
  assert,
  clockOf,
  denyAll,
  hub,
  journey,
  middleOf,
  noteInput,
  notedOf,
  pause,
  PHONE,
  raise,
  settled,
  stateOf,
  tap,
  until,
  within,
} from './rig.mjs'

const SOON_MS = 600

/** When something else than a row comes under a point of the page. */
const whenOther = async (page, { x, y }, ask) => {
  const moved = await page.waitForFunction(
    ([x, y, path]) => document.elementFromPoint(x, y)?.closest('.need')?.querySelector('a').pathname !== path && performance.now(),
    [x, y, `/inbox/${ask.id}`],
  )
  return moved.jsonValue()
}
/** Show an ask as a notification does. */
const jump = async (page, ask) => {
  const data = { go: `/inbox/${ask.id}` }
  await page.evaluate((data) => navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data })), data)
  await page.getByRole('heading', { name: ask.title }).waitFor({ state: 'attached' })
}
const deny = (...asks) => Promise.all(asks.map((ask) => api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' }).catch(() => null)))

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  await noteInput(page)
  await page.goto(hub.url)
  const row = (ask, on = page) => on.locator('.need', { has: on.locator(`a[href="/inbox/${ask.id}"]`) })
  const approveOf = (ask, on) => row(ask, on).locator('[data-do=approve]')

  // Nobody is at the list, a riskier ask moves it, and the click comes right after that.
  for (let rounds = 0; rounds < 5; rounds++)
    await within(SOON_MS, async (tries) => {
      await page.locator('h1').hover()
      const [upper, lower] = [await raise(`upper ${rounds} ${tries}`), await raise(`lower ${rounds} ${tries}`)]
      await approveOf(lower).click({ trial: true })
      await page.locator('h1').hover()
      const target = await middleOf(approveOf(lower))
      const moved = whenOther(page, target, lower)
      const risky = await raise(`moves ${rounds} ${tries}`, { risk: 'high' })
      const movedAt = await moved
      await page.mouse.click(target.x, target.y)
      const { pointerdown } = await notedOf(page)
      const took = pointerdown.at - movedAt
      const states = [await stateOf(upper), await stateOf(lower)]
      await page.locator('h1').hover()
      await deny(upper, lower, risky)
      await row(risky).waitFor({ state: 'detached' })
      const check = () => {
        assert.deepEqual(states, ['open', 'open'], `a click ${took} ms after the change`)
        assert.ok(pointerdown.isDim || took < 200, `it looks so after ${took} ms`)
      }
      return { took, check }
    })

  // A control that moves while it is pressed is not pressed, however long that lasts.
  const asks = [await raise('a first row'), await raise('a second row'), await raise('a third row')]
  await row(asks[2]).waitFor()
  await approveOf(asks[0]).click({ trial: true })
  const pressed = await middleOf(approveOf(asks[0]))
  await page.mouse.move(pressed.x, pressed.y)
  await page.mouse.down()
  await page.evaluate(() => (document.querySelector('.home').style.marginTop = '6px'))
  await pause(1_000)
  await page.mouse.up()
  await pause(300)
  assert.equal(await stateOf(asks[0]), 'open')

  // Keys, and Enter on a button that has the focus, right after another ask has come in front of them.
  await page.goto(`${hub.url}/inbox/${asks[0].id}`)
  for (const key of ['y', 'Enter'])
    await within(SOON_MS, async (tries) => {
      const other = await raise(`comes in front ${key} ${tries}`)
      await jump(page, asks[0])
      await settled(page)
      const before = await clockOf(page)
      await jump(page, other)
      if (key === 'Enter') await page.locator('[data-do=approve]').focus()
      await page.keyboard.press(key)
      const took = (await notedOf(page)).keydown.at - before
      await pause(KEY_MS)
      const state = await stateOf(other)
      await jump(page, asks[0])
      await deny(other)
      return { took, check: () => assert.equal(state, 'open', `${key} ${took} ms after the change`) }
    })

  // The pointer went down on one ask and comes up on another.
  await settled(page)
  const approve = await middleOf(page.locator('[data-do=approve]'))
  await page.mouse.move(approve.x, approve.y)
  await page.mouse.down()
  await jump(page, asks[2])
  await settled(page)
  await page.mouse.up()
  await pause(300)
  assert.deepEqual([await stateOf(asks[0]), await stateOf(asks[2])], ['open', 'open'])

  // The palette was opened for one ask, and closes when another comes in front of it.
  await page.keyboard.press('Control+k')
  const option = page.getByRole('option', { name: /^Approve, or send the answer/ })
  await option.waitFor()
  await jump(page, asks[1])
  await option.waitFor({ state: 'detached' })
  assert.deepEqual([await stateOf(asks[1]), await stateOf(asks[2])], ['open', 'open'])

  // What a dialog covers takes no keys.
  await settled(page)
  await page.keyboard.press('?')
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('y')
  await pause(KEY_MS)
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' })
  assert.equal(await stateOf(asks[1]), 'open')

  // A finger went down on one row and comes up on another, for the list has moved between.
  const phone = await visit({ size: PHONE })
  const cdp = await phone.context().newCDPSession(phone)
  const touch = (type, touchPoints) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints })
  await approveOf(asks[1], phone).scrollIntoViewIfNeeded()
  await approveOf(asks[1], phone).click({ trial: true })
  const finger = await middleOf(approveOf(asks[1], phone))
  const { height } = await row(asks[1], phone).boundingBox()
  await touch('touchStart', [finger])
  await phone.evaluate((height) => (document.querySelector('.home').style.marginTop = `${height}px`), height)
  await phone.waitForFunction(
    ([x, y, path]) => document.elementFromPoint(x, y)?.closest('.need')?.querySelector('a').pathname !== path,
    [finger.x, finger.y, `/inbox/${asks[1].id}`],
  )
  await touch('touchEnd', [])
  await pause(300)
  assert.deepEqual(await Promise.all(asks.map(stateOf)), ['open', 'open', 'open'])

  // Once they have stood still, each of them takes what is meant for it.
  await tap(approveOf(asks[2], phone))
  await until('the tap to count', async () => (await stateOf(asks[2])) === 'answered')
  await settled(page)
  await page.keyboard.press('y')
  await until('the key to count', async () => (await stateOf(asks[1])) === 'answered')
  assert.equal(await stateOf(asks[0]), 'open')
  await deny(asks[0])
})
