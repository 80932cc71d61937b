/** Whoever clicks twice has decided once: what was answered stays in its place, and nothing else comes under the pointer. */
import { api, assert, denyAll, hub, isStill, journey, middleOf, pause, raise, reach, settled, stateOf, thread } from './rig.mjs'

const SECOND_MS = 350

/** Click where a button is, and once more where it was; and at once, as a double click. */
async function clickTwice(page, button) {
  await reach(button)
  const { x, y } = await middleOf(button)
  await page.mouse.click(x, y, { clickCount: 2 })
  await pause(SECOND_MS)
  await page.mouse.click(x, y)
  await pause(SECOND_MS)
  await page.mouse.click(x, y)
}
const statesOf = (asks) => Promise.all(asks.map((ask) => stateOf(ask)))

await journey(async (visit) => {
  await denyAll()
  const page = await visit()

  // Home.
  const onHome = [await raise('first of three'), await raise('second of three'), await raise('third of three')]
  const row = (ask) => page.locator('.need', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })
  await row(onHome[2]).waitFor()
  await row(onHome[0]).hover()
  const still = await isStill(row(onHome[1]))
  await clickTwice(page, row(onHome[0]).locator('[data-do=approve]'))
  await row(onHome[0]).getByText('Approved').last().waitFor()
  assert.deepEqual(await statesOf(onHome), ['answered', 'open', 'open'])
  await still('the row below stays where it is')
  await page.locator('h1').hover()
  await row(onHome[0]).waitFor({ state: 'detached' })

  // By keyboard: the focus stays on what was answered, and Enter once more does nothing.
  const second = row(onHome[1])
  await reach(second.locator('[data-do=approve]'))
  await second.locator('[data-do=approve]').focus()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.down('Enter')
  for (let repeats = 0; repeats < 20; repeats++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await second.getByText('Approved').last().waitFor()
  assert.ok(await second.evaluate((element) => element === document.activeElement), 'the focus is on what was answered')
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Enter')
  assert.deepEqual(await statesOf(onHome), ['answered', 'answered', 'open'])
  for (let tabs = 0; tabs < 2; tabs++) await page.keyboard.press('Tab')
  assert.equal(await row(onHome[2]).evaluate((element) => element.contains(document.activeElement)), true, 'and goes on from there')

  // The inbox: what was answered stays in front until one goes on.
  const inInbox = [onHome[2], await raise('next in the inbox')]
  await page.goto(`${hub.url}/inbox/${inInbox[0].id}`)
  await clickTwice(page, page.locator('[data-do=approve]'))
  await page.locator('.given', { hasText: 'Approved' }).waitFor()
  assert.deepEqual(await statesOf(inInbox), ['answered', 'open'])
  assert.ok(page.url().endsWith(inInbox[0].id), 'the same ask is shown')
  await page.locator('.ask.over.here').waitFor()
  await page.locator('[data-do=next]').click()
  await page.waitForURL(`**/inbox/${inInbox[1].id}`)

  // Several at once: their bar stays, and does nothing more.
  const many = [await raise('one of a batch'), await raise('two of a batch')]
  for (const ask of many)
    await page
      .locator('.ask', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })
      .getByRole('checkbox')
      .check()
  await clickTwice(page, page.locator('[data-do=approve-all]'))
  await page.getByRole('toolbar', { name: 'Nothing selected' }).waitFor()
  assert.deepEqual(await statesOf([...many, inInbox[1]]), ['answered', 'answered', 'open'])

  // A key that is held down answers once, whatever comes under it.
  await page.goto(`${hub.url}/inbox/${inInbox[1].id}`)
  const after = await raise('after the held key')
  await settled(page)
  await page.keyboard.down('y')
  await page.locator('.given', { hasText: 'Approved' }).waitFor()
  await page.goto(`${hub.url}/inbox/${after.id}`)
  await settled(page)
  for (let repeats = 0; repeats < 20; repeats++) await page.keyboard.down('y')
  await page.keyboard.up('y')
  assert.equal(await stateOf(after), 'open')
  await api('POST', `/api/asks/${after.id}/answer`, { verdict: 'deny' })

  // In a thread two cards stand one below the other.
  const talk = await thread('two cards')
  const cards = [await raise('upper card', { thread_id: talk }), await raise('lower card', { thread_id: talk })]
  await page.goto(`${hub.url}/threads/${talk}`)
  const card = (ask) => page.locator('.ask', { hasText: ask.title })
  await card(cards[0]).hover()
  const lower = await isStill(card(cards[1]))
  await clickTwice(page, card(cards[0]).locator('[data-do=approve]'))
  await card(cards[0]).locator('.given', { hasText: 'Approved' }).waitFor()
  assert.deepEqual(await statesOf(cards), ['answered', 'open'])
  await lower('the card below stays where it is')
  await page.locator('h1').last().hover()
  await card(cards[0]).locator('.toggle').waitFor()
  await api('POST', `/api/asks/${cards[1].id}/answer`, { verdict: 'deny' })
})
