/** Whoever comes back from another window or tab still types and clicks what was meant for that one. */
import { openApart, visitApart } from './apart.mjs'
import { api, assert, denyAll, journey, pause, raise, stateOf, until, within } from './rig.mjs'

const SOON_MS = 600
const LONG_MS = 1_500

await journey(async (_, browser) => {
  await denyAll()
  const page = await visitApart(browser, '/inbox')
  const other = await openApart(browser, 'about:blank')
  await page.show()
  await page.evaluate(() => {
    window.times = {}
    for (const type of ['focus', 'pointerdown', 'keydown']) addEventListener(type, () => (times[type] = performance.now()))
  })
  const isSettled = () => !!document.querySelector('.detail [data-do=approve]') && !document.querySelector('[data-do][aria-disabled=true]')
  const show = async (ask) => {
    const path = `/inbox/${ask.id}`
    await page.evaluate((data) => void navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data })), { go: path })
    await page.sees('the ask', (path) => location.pathname === path && !!document.querySelector('.detail [data-do=approve]'), path)
    await pause(LONG_MS)
    await page.sees('what takes input', isSettled)
  }
  const leave = async () => {
    await other.show()
    await page.sees('that it is hidden', () => document.hidden)
  }
  const comeBack = async () => {
    await page.show()
    await page.sees('that it is in front', () => !document.hidden && document.hasFocus())
  }
  const middle = () => {
    const { left, top, width, height } = document.querySelector('.detail [data-do=approve]').getBoundingClientRect()
    return { x: left + width / 2, y: top + height / 2 }
  }
  const move = async () => {
    const { x, y } = await page.evaluate(middle)
    await page.mouse('mouseMoved', { x: x - 30, y: y - 30 })
    await page.mouse('mouseMoved', { x, y })
    return { x, y }
  }
  const click = async (at) => {
    await page.mouse('mousePressed', at)
    await page.mouse('mouseReleased', at)
  }
  const focus = () => document.querySelector('.detail [data-do=approve]').focus()
  const ways = {
    'a key': [() => null, () => page.press('y')],
    'Enter on the button': [() => page.evaluate(focus), () => page.press('Enter')],
    'a click': [move, click],
  }
  for (const [way, [before, after]] of Object.entries(ways))
    await within(SOON_MS, async (tries) => {
      const ask = await raise(`${way} ${tries}`)
      await show(ask)
      const at = await before()
      await leave()
      await comeBack()
      await after(at)
      const took = await page.evaluate(() => Math.max(times.keydown ?? 0, times.pointerdown ?? 0) - times.focus)
      await pause(LONG_MS)
      const state = await stateOf(ask)
      await api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' }).catch(() => null)
      return { took, check: () => assert.equal(state, 'open', `${way} ${took} ms after the return`) }
    })

  // The mouse went down before they left, and comes up somewhere else or later.
  const ask = await raise('pressed before')
  await show(ask)
  const at = await move()
  await page.mouse('mousePressed', at)
  await leave()
  await comeBack()
  await pause(LONG_MS)
  await page.mouse('mouseReleased', at)
  await pause(LONG_MS)
  assert.equal(await stateOf(ask), 'open')

  // After a moment the same key counts.
  await until('the key to count', async () => {
    await pause(LONG_MS)
    await page.press('y')
    await pause(LONG_MS)
    return (await stateOf(ask)) === 'answered'
  })
})
