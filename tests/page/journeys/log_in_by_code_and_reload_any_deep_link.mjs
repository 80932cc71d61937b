import { api, assert, hub, journey, thread } from './rig.mjs'

await journey(async (visit, browser) => {
  const id = await thread('deep')
  const stranger = await (await browser.newContext()).newPage()
  await stranger.goto(`${hub.url}/threads/${id}`)
  assert.match(stranger.url(), /\/login\?next=/)
  await stranger.fill('#code', 'wrong')
  await stranger.click('button')
  await stranger.getByRole('alert').waitFor()
  await stranger.fill('#code', (await api('POST', '/api/login-codes')).code)
  await stranger.click('button')
  await stranger.getByRole('heading', { name: /^deep / }).waitFor()
  assert.equal(new URL(stranger.url()).pathname, `/threads/${id}`)
  const page = await visit()
  for (const path of [`/threads/${id}`, '/inbox', '/threads', '/runs', '/agents', '/profiles/rehearsal', '/people', '/nodes', '/tokens', '/settings', '/']) {
    await page.goto(hub.url + path)
    await page.reload()
    await page.locator('main h1').first().waitFor()
    assert.equal(new URL(page.url()).pathname, path)
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What would you like to do?' }).fill('log out')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/login/)
  await page.goto(`${hub.url}/inbox`)
  assert.match(page.url(), /\/login\?next=/)
})
