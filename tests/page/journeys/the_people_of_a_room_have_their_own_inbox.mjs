import { api, assert, hub, journey, press } from './rig.mjs'

await journey(async (visit, browser) => {
  const room = `team${Date.now()}`
  const { token } = await api('POST', '/api/credentials', { kind: 'room', name: room, room })
  const ours = await api('POST', '/api/asks', { kind: 'question', title: 'Tea or coffee?', room })
  await api('POST', '/api/asks', { kind: 'question', title: 'Not for this room' })
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${hub.url}/?token=${token}`)
  assert.equal((await page.context().cookies()).length, 0, 'an address alone does not log in')
  assert.ok(!page.url().includes(token), 'the token does not stay in the address')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(/\/inbox/)
  assert.ok(!page.url().includes(token), 'the token does not stay in the address')
  await page.getByRole('heading', { name: 'Tea or coffee?' }).waitFor()
  assert.equal(await page.getByText('Not for this room').count(), 0)
  assert.deepEqual(
    await page
      .locator('nav a[aria-current]')
      .allInnerTexts()
      .then((all) => all.map((one) => one.split('\n')[0])),
    ['Inbox'],
  )
  await page.getByLabel('Your answer…').fill('tea')
  await press(page.locator('[data-do=answer]'))
  await page.locator('.given', { hasText: 'tea' }).waitFor()
  assert.equal((await api('GET', `/api/asks/${ours.id}`)).answer.text, 'tea')
})
