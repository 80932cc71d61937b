/** A few letters and Enter choose a command, and no call: the palette names what would be answered, and leaves high risk to the
 *  button that is held down. */
import { KEY_MS, askOf, assert, denyAll, hub, journey, pause, press, raise, settled, startRun, stateOf, until } from './rig.mjs'

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  const dialog = page.getByRole('dialog')
  const palette = async (words) => {
    await page.keyboard.press('Control+k')
    await page.waitForFunction(() => document.activeElement?.matches('.palette input'))
    await page.keyboard.type(words)
    await page.keyboard.press('Enter')
    await page.locator('.palette').waitFor({ state: 'detached' })
  }
  const show = async (ask) => {
    await page.goto(`${hub.url}/inbox/${ask.id}`)
    await settled(page)
  }

  // A call of medium risk is named first, with the focus on the way back, and Enter goes that way.
  const ask = await askOf(await startRun('SHELL make d'))
  await show(ask)
  for (const words of ['app', 'approve', 'approve run', 'deny']) {
    await palette(words)
    await dialog.getByRole('button', { name: /: Run make d$/ }).waitFor()
    await page.waitForFunction(() => document.activeElement?.textContent === 'Cancel')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await pause(200)
    assert.equal(await stateOf(ask), 'open', words)
  }

  // Enter that is held down presses nothing of what comes up.
  await page.keyboard.press('Control+k')
  await page.waitForFunction(() => document.activeElement?.matches('.palette input'))
  await page.keyboard.type('app')
  for (let repeats = 0; repeats < 30; repeats++) await page.keyboard.down('Enter')
  await dialog.getByRole('button', { name: 'Approve: Run make d' }).waitFor()
  for (let repeats = 0; repeats < 30; repeats++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  assert.equal(await stateOf(ask), 'open')
  await press(dialog.getByRole('button', { name: 'Approve: Run make d' }))
  await until('the step to count', async () => (await stateOf(ask)) === 'answered')

  // Letters that are typed before the palette is there are no keys of the page.
  const early = await raise('typed too early')
  await show(early)
  await Promise.all([page.keyboard.press('Control+k'), page.keyboard.press('y'), page.keyboard.press('n')])
  await page.locator('.palette input').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.palette').waitFor({ state: 'detached' })
  await pause(KEY_MS)
  assert.equal(await stateOf(early), 'open')

  // Several that are selected are named as well, calls with their folders.
  const others = [early, await raise('also selected'), await askOf(await startRun('SHELL make d'))]
  for (const one of others)
    await page
      .locator('.ask', { has: page.locator(`a[href="/inbox/${one.id}"]`) })
      .getByRole('checkbox')
      .check()
  await palette('app')
  await dialog.getByText('also selected').waitFor()
  await dialog.getByText('Run make d · in its own folder').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  for (const one of others) assert.equal(await stateOf(one), 'open')
  await page.keyboard.press('Escape')

  // High risk is only made ready.
  const high = await askOf(await startRun('SHELL rm -rf build'))
  await show(high)
  for (const words of ['app', 'approve rest of this run']) {
    await palette(words)
    await page.getByRole('status').filter({ hasText: 'Hold the button down' }).waitFor()
    assert.equal(await dialog.getByRole('button').count(), 0) // the palette's own dialog goes a moment after its content
    assert.equal(await stateOf(high), 'open')
  }
  await page.getByRole('button', { name: /^Hold to approve · For the rest of this run/ }).waitFor()
  await denyAll()
})
