import { assert, hub, journey } from './rig.mjs'

/** The hub is known elsewhere as https://hub.example and listens on an address of the network too. */
await journey(async (visit, browser) => {
  const page = await visit({ path: '/access?do=pair' })
  const address = page.getByLabel('Address of the hub')
  await page.getByRole('img', { name: 'QR code that logs a phone in' }).waitFor()
  assert.equal(await address.inputValue(), hub.first)
  assert.deepEqual(await address.locator('option').allInnerTexts(), [hub.first, hub.second])
  await address.selectOption(hub.second)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy link' }).click()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  assert.ok(link.startsWith(`${hub.second}/login?code=`), link)
  const phone = await (await browser.newContext()).newPage()
  await phone.goto(link.replace(hub.second, hub.url))
  await phone.click('button')
  await phone.locator('main h1').first().waitFor()
  await page.getByText('A browser has logged in').waitFor()
})
