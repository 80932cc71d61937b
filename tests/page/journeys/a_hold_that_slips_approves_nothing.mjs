/** What is held down and let go elsewhere was not held: a finger that slides off, a button of the mouse that comes up unseen, a
 *  window that somebody has left. */
import { api, assert, denyAll, hub, journey, middleOf, pause, PHONE, raise, reach, stateOf } from './rig.mjs'

const HELD_MS = 1_800

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  const leave = () => page.evaluate(() => dispatchEvent(new Event('blur')))
  const ways = {
    'the left button came up while the right one was down': async () => {
      await page.mouse.down({ button: 'right' })
      await page.mouse.up({ button: 'left' })
    },
    'another window has come in front': leave,
  }
  for (const [why, slip] of Object.entries(ways)) {
    const ask = await raise(why, { risk: 'high' })
    await page.goto(`${hub.url}/inbox/${ask.id}`)
    await reach(page.locator('[data-do=approve]'))
    await page.mouse.down()
    await page.locator('.hold.held').waitFor()
    await slip()
    await pause(HELD_MS)
    assert.equal(await stateOf(ask), 'open', why)
    await page.mouse.up({ button: 'left' })
    await page.mouse.up({ button: 'right' })
    await api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' })
  }

  const phone = await visit({ size: PHONE })
  const cdp = await phone.context().newCDPSession(phone)
  const touch = (type, touchPoints) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints })
  const ask = await raise('a finger slides off', { risk: 'high' })
  await phone.goto(`${hub.url}/inbox/${ask.id}`)
  const button = phone.locator('[data-do=approve]')
  await reach(button)
  const { x, y } = await middleOf(button)
  await touch('touchStart', [{ x, y }])
  await phone.locator('.hold.held').waitFor()
  for (let step = 1; step <= 10; step++) await touch('touchMove', [{ x, y: y - 20 * step }])
  await pause(HELD_MS)
  await touch('touchEnd', [])
  assert.equal(await stateOf(ask), 'open')
  await denyAll()
})
