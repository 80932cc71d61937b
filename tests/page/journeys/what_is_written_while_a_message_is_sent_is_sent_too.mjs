/** The hub takes its time with a message: what a person writes meanwhile is neither lost nor overtakes it. */
import { api, assert, hub, journey, thread, until } from './rig.mjs'

await journey(async (visit, browser, pages) => {
  const id = await thread('slow')
  const page = await visit()
  const held = []
  await page.route(`**/api/threads/${id}/messages`, (route) => (route.request().method() === 'POST' ? held.push(route) : route.continue()))
  await page.goto(`${hub.url}/threads/${id}`)
  const box = page.getByLabel('Write a message')
  for (const text of ['first', 'second']) {
    await box.fill(text)
    await box.press('Enter')
  }
  await box.fill('a draft')
  await until('the first to be on its way', () => held.length)
  await held[0].continue()
  await until('the second to follow it', () => held.length > 1)
  await held[1].continue()
  await page.locator('.markdown', { hasText: 'second' }).waitFor()
  const said = (await api('GET', `/api/threads/${id}/messages`)).filter((message) => message.seq > 0).map((message) => message.content)
  assert.deepEqual(said, ['first', 'second'])
  assert.equal(await box.inputValue(), 'a draft')

  // One that the hub does not take comes back, before what was written since.
  await box.fill('third')
  await box.press('Enter')
  await until('the third to be on its way', () => held.length > 2)
  await box.fill('a draft')
  await held[2].abort()
  await until('the third to be back', async () => (await box.inputValue()) === 'third\n\na draft')
  pages[0].complaints.length = 0 // the browser tells the failed request by itself
})
