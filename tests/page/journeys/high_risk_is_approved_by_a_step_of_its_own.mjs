/** High risk is not one click or one key away: it is held down for a second, or named and confirmed, and never part of a batch. */
import {
  api,
  askOf,
  assert,
  denyAll,
  endOf,
  hold,
  holdByFinger,
  hub,
  journey,
  middleOf,
  noteInput,
  notedOf,
  pause,
  PHONE,
  raise,
  settled,
  startRun,
  stateOf,
  until,
  within,
} from './rig.mjs'

const SURE = 'Approve this high-risk call?'

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  await noteInput(page)
  const button = page.locator('[data-do=approve]')
  const dialog = page.getByRole('dialog', { name: SURE })
  const row = (ask) => page.locator('.ask', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })
  const isOpen = async (ask, why) => assert.equal(await stateOf(ask), 'open', why)
  const show = async (ask) => {
    await page.goto(`${hub.url}/inbox/${ask.id}`)
    await settled(page)
  }
  const run = await startRun('SHELL rm -rf build\nSAY {{output}}')
  const ask = await askOf(run)
  await show(ask)

  // By mouse: a click, a double click, and a hold that slips away do nothing but say what is to be done.
  await button.click()
  await page.getByRole('status').filter({ hasText: 'Hold the button down' }).waitFor()
  await button.dblclick()
  const { x, y } = await middleOf(button)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x, y + 200)
  await pause(1_200)
  await page.mouse.up()
  await isOpen(ask, 'it was not held, or not here')

  // By key: `y` names what would be approved, with the focus on the way back.
  await page.keyboard.press('y')
  await dialog.getByText('Run rm -rf build').first().waitFor()
  await page.waitForFunction(() => document.activeElement?.textContent === 'Cancel')
  for (const key of ['y', 'Enter']) await page.keyboard.press(key)
  await dialog.waitFor({ state: 'detached' })
  await settled(page)
  await button.focus()
  for (const key of ['Enter', 'Space']) await page.keyboard.press(key)
  await page.keyboard.press('Control+Enter')
  await isOpen(ask, 'no key alone approves')
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'Approve: For the rest of this run' }).click()
  await page.getByRole('button', { name: 'Hold to approve · For the rest of this run: exactly this call: Run rm -rf build' }).waitFor()
  await isOpen(ask, 'the palette only makes it ready')

  // How far it reaches is chosen first, and said on the button; then that is held.
  await page.getByRole('button', { name: 'Scope of this approval' }).click()
  await page.getByRole('menuitem', { name: 'For the rest of this run' }).click()
  await page.getByRole('button', { name: 'Hold to approve · For the rest of this run: exactly this call: Run rm -rf build' }).waitFor()
  await isOpen(ask, 'choosing is not approving')
  await hold(page, button)
  await page.locator('.given', { hasText: 'Approved' }).waitFor()
  assert.equal((await api('GET', `/api/asks/${ask.id}`)).answer.scope, 'run')
  await endOf(run.id)

  // Space is held as the mouse is. With words in the box it asks first.
  const byKey = await raise('held by key', { risk: 'high' })
  await show(byKey)
  await page.getByLabel(/Message to the agent/).fill('No, thank you')
  await settled(page)
  await button.focus()
  await page.keyboard.down('Space')
  await dialog.getByText('No, thank you').waitFor()
  await page.keyboard.up('Space')
  await isOpen(byKey, 'there were words')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByLabel(/Message to the agent/).fill('')
  await settled(page)
  await button.focus()
  await page.keyboard.down('Space')
  await page.locator('.given', { hasText: 'Approved' }).waitFor()
  await page.keyboard.up('Space')

  // Half a hold is none, neither of the mouse nor of a key.
  for (const way of ['mouse', 'keyboard'])
    await within(800, async (tries) => {
      const half = await raise(`half a hold ${way} ${tries}`, { risk: 'high' })
      await show(half)
      const { x, y } = await middleOf(button)
      await (way === 'mouse' ? page.mouse.move(x, y) : button.focus())
      await page[way].down(way === 'mouse' ? undefined : 'Space')
      await page.locator('.hold.held').waitFor()
      await page[way].up(way === 'mouse' ? undefined : 'Space')
      const noted = await notedOf(page)
      const took = way === 'mouse' ? noted.pointerup.at - noted.pointerdown.at : noted.keyup.at - noted.keydown.at
      await pause(1_200)
      const state = await stateOf(half)
      await api('POST', `/api/asks/${half.id}/answer`, { verdict: 'deny' }).catch(() => null)
      return { took, check: () => assert.equal(state, 'open', `${took} ms by ${way}`) }
    })

  // A screen reader presses without holding: it is asked by name.
  const read = await raise('read aloud', { risk: 'high' })
  await show(read)
  assert.equal(await button.getAttribute('aria-label'), 'Hold to approve: read aloud')
  await button.evaluate((element) => element.click())
  await dialog.getByRole('button', { name: 'Approve: read aloud' }).click()
  await until('the answer', async () => (await stateOf(read)) === 'answered')

  // Somebody else answers while it is held: nothing is sent.
  const raced = await raise('answered while held', { risk: 'high' })
  await show(raced)
  const place = await middleOf(button)
  await page.mouse.move(place.x, place.y)
  await page.mouse.down()
  await page.locator('.hold.held').waitFor()
  await api('POST', `/api/asks/${raced.id}/answer`, { verdict: 'deny' })
  await page.locator('.given', { hasText: 'Denied' }).waitFor()
  await pause(1_200)
  await page.mouse.up()
  assert.equal((await api('GET', `/api/asks/${raced.id}`)).answer.verdict, 'deny')

  // None is selected before, none by Shift+A, and none is approved among others.
  const [low, high, other] = [await raise('low one'), await raise('high one', { risk: 'high' }), await raise('other one')]
  const question = await raise('Which one?', { kind: 'question' })
  await page.goto(`${hub.url}/inbox`)
  await row(other).waitFor()
  assert.equal(await page.locator('.ask input:checked').count(), 0)
  await page.keyboard.press('Shift+A')
  await row(low).getByRole('checkbox', { checked: true }).waitFor()
  for (const one of [high, question]) assert.equal(await row(one).getByRole('checkbox').isChecked(), false)
  await row(high).getByRole('checkbox').check()
  await page.getByText('1 to be answered alone: open each one').waitFor()
  await page.locator('[data-do=approve-all]').click({ trial: true })
  await page.keyboard.press('y')
  for (const one of [low, other]) await until('the batch', async () => (await stateOf(one)) === 'answered')
  await page.locator('.toast', { hasText: 'Questions and high-risk asks are answered one by one: 1 left' }).waitFor()
  await isOpen(high, 'it is left')
  await page.locator('[data-do=approve-all]:disabled').waitFor()
  await page.goto(hub.url)
  await page.locator('.need', { hasText: 'high one' }).getByRole('link', { name: 'Review' }).waitFor()
  assert.equal(await page.locator('.need', { hasText: 'high one' }).getByRole('button').count(), 0)

  // On a phone the same: a tap is not enough.
  const phone = await visit({ size: PHONE, path: `/inbox/${high.id}` })
  await settled(phone)
  await phone.locator('[data-do=approve]').tap()
  await phone.getByRole('status').filter({ hasText: 'Hold the button down' }).waitFor()
  await isOpen(high, 'a tap is not enough')
  await holdByFinger(phone, phone.locator('[data-do=approve]'))
  await phone.locator('.given', { hasText: 'Approved' }).waitFor()
  await denyAll()
})
