/** A click or a key that was meant for what is no longer there approves nothing: not what a dialog had covered, not what a dialog
 *  brings up, not what the rest of some words spells, and not what a busy page has not shown yet. */
import {
  KEY_MS,
  api,
  askOf,
  assert,
  clockOf,
  denyAll,
  hub,
  journey,
  middleOf,
  noteInput,
  notedOf,
  pause,
  press,
  raise,
  settled,
  startRun,
  stateOf,
  until,
  within,
} from './rig.mjs'

const SOON_MS = 600
const BUSY_MS = 1_500
const deny = (...asks) => Promise.all(asks.map((ask) => api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' }).catch(() => null)))

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  await noteInput(page)
  const button = page.locator('[data-do=approve]')
  const dialog = page.getByRole('dialog')
  const words = page.getByLabel(/Message to the agent/)
  const rowOf = (ask) => page.locator('.ask', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })
  const show = async (ask) => {
    await page.goto(`${hub.url}/inbox/${ask.id}`)
    await settled(page)
  }

  // The first of two clicks closes what lies over a button, and the second comes to the button.
  const below = await raise('below a dialog')
  await page.goto(hub.url)
  const approve = page.locator('.need', { hasText: below.title }).locator('[data-do=approve]')
  const help = page.getByRole('heading', { name: 'Keyboard shortcuts' })
  for (const keys of ['?', 'Control+k'])
    await within(SOON_MS, async () => {
      await approve.click({ trial: true })
      const { x, y } = await middleOf(approve)
      await page.mouse.move(x, y)
      await page.keyboard.press(keys)
      await (keys === '?' ? help : page.locator('.palette')).waitFor()
      await pause(500)
      const before = await clockOf(page)
      await page.mouse.click(x, y)
      await dialog.waitFor({ state: 'detached' })
      await page.mouse.click(x, y)
      const took = (await notedOf(page)).pointerdown.at - before
      await pause(300)
      return { took, check: async () => assert.equal(await stateOf(below), 'open', `${took} ms after ${keys} was closed`) }
    })
  await press(approve)
  await until('a click of its own to count', async () => (await stateOf(below)) === 'answered')

  // The step that names what is approved takes nothing that was under way when it came up, be it a click or keys.
  const named = await raise('named', { risk: 'high' })
  await show(named)
  const yes = dialog.getByRole('button', { name: 'Approve: named' })
  await page.keyboard.press('y')
  await yes.click({ trial: true })
  const target = await middleOf(yes)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  for (const way of ['click', 'keys'])
    await within(SOON_MS, async () => {
      await settled(page)
      await page.keyboard.press('y')
      const asked = await page.waitForFunction(() => document.activeElement?.textContent === 'Cancel' && performance.now())
      const before = await asked.jsonValue()
      if (way === 'click') await page.mouse.click(target.x, target.y)
      else for (const key of ['Tab', 'Enter']) await page.keyboard.press(key)
      const noted = await notedOf(page)
      const took = (way === 'click' ? noted.pointerdown : noted.keydown).at - before
      await pause(300)
      const state = await stateOf(named)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      return { took, check: () => assert.equal(state, 'open', `${way} after ${took} ms`) }
    })

  // A key that is held down for the button does not press what comes up then.
  await words.fill('No, thank you')
  await settled(page)
  await button.focus()
  await page.keyboard.down('Enter')
  await dialog.waitFor()
  for (let repeats = 0; repeats < 20; repeats++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  assert.equal(await dialog.count(), 1, 'neither yes nor no')
  assert.equal(await stateOf(named), 'open')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await deny(named)

  // The second of two keys that lead somewhere is no key of its own.
  const first = await raise('the first')
  await within(SOON_MS, async () => {
    await show(first)
    await page.keyboard.press('g')
    const before = (await notedOf(page)).keydown.at
    await page.keyboard.press('y')
    const took = (await notedOf(page)).keydown.at - before
    await pause(KEY_MS)
    return { took, check: async () => assert.equal(await stateOf(first), 'open', 'it was to be g t') }
  })

  // While others are selected, the keys do not say that they answer what is shown.
  const second = await raise('the second')
  await rowOf(second).getByRole('checkbox').check()
  await page.locator('[data-do=approve-all] kbd').waitFor()
  assert.equal(await page.locator('.answer').getByText('y', { exact: true }).count(), 0)

  // Somebody writes, the ask is answered elsewhere, and the rest of the words is not keys for what is selected.
  await words.click()
  await page.keyboard.type('no ')
  await deny(first)
  await page.locator('.given', { hasText: 'Denied' }).waitFor()
  await page.keyboard.type('way, by no means', { delay: 60 })
  await pause(300)
  assert.equal(await stateOf(second), 'open')
  await rowOf(second).getByRole('checkbox').uncheck()

  // The page is busy and shows late that another ask has come in front: what was pressed before that was for the one before.
  const cdp = await page.context().newCDPSession(page)
  for (const way of ['click', 'key']) {
    const other = await raise(`shown late ${way}`)
    await show(second)
    const { x, y } = await middleOf(button)
    await page.mouse.move(x, y)
    const busy = page.evaluate(
      async ([path, title, ms]) => {
        navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data: { go: path } }))
        const channel = new MessageChannel()
        const turn = () => new Promise((resolve) => ((channel.port1.onmessage = resolve), channel.port2.postMessage(0)))
        while (!document.querySelector('h2')?.textContent.includes(title)) await turn()
        for (const end = performance.now() + ms; performance.now() < end;);
      },
      [`/inbox/${other.id}`, other.title, BUSY_MS],
    )
    await pause(500)
    const left = { x, y, button: 'left', clickCount: 1 }
    const send = (type) => cdp.send('Input.dispatchMouseEvent', { type, ...left })
    await Promise.all([busy, ...(way === 'click' ? [send('mousePressed'), send('mouseReleased')] : [page.keyboard.press('y')])])
    await pause(KEY_MS)
    assert.equal(await stateOf(other), 'open', `by ${way}`)
    await deny(other)
  }
  await deny(second)

  // A rule is saved as it reads: not while another choice is on its way.
  const run = await startRun('SHELL make d')
  await show(await askOf(run))
  await page.getByRole('button', { name: 'Scope of this approval' }).click()
  await page.getByRole('menuitem', { name: /rule/ }).click()
  const save = dialog.locator('footer .btn.main')
  await save.click({ trial: true })
  let release
  const held = new Promise((resolve) => (release = resolve))
  await page.route('**/api/policy/asked/**', async (route) => (await held, route.continue()))
  await dialog.locator('[data-choice][aria-checked=false]').last().click()
  await page.waitForFunction(() => document.querySelector('.sheet footer .btn.main').disabled)
  release()
  await save.click({ trial: true })
  await denyAll()
})
