import { api, assert, hub, journey } from './rig.mjs'

await journey(async (visit, browser) => {
  const page = await visit()
  const mark = Date.now()
  await page.goto(`${hub.url}/tokens`)
  await page.getByRole('button', { name: 'New token' }).first().click()
  await page.getByRole('dialog').getByText('Viewer').click()
  await page.getByLabel('Name', { exact: true }).fill(`viewer ${mark}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Make the token' }).last().click()
  await page.locator('.secret', { hasText: 'gr_viewer_' }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: `End viewer ${mark}` }).click()
  await page.locator('.ask-for').getByRole('button', { name: 'End it' }).click()
  await page.getByText('It opens nothing any more').waitFor()
  assert.ok((await api('GET', '/api/credentials')).find((one) => one.name === `viewer ${mark}`).revoked_at)

  const told = page.waitForResponse((answer) => answer.url().endsWith('/api/login-codes'))
  await page.getByRole('button', { name: 'Pair a phone' }).click()
  const { code } = await (await told).json()
  await page.getByRole('img', { name: 'Code that logs a phone in' }).waitFor()
  const phone = await (await browser.newContext()).newPage()
  await phone.goto(`${hub.url}/login?code=${code}`)
  await phone.click('button')
  await phone.locator('main h1').first().waitFor()
  await page.getByText('A browser has come in').waitFor()

  await page.goto(`${hub.url}/nodes`)
  await page.getByRole('button', { name: 'Add a machine' }).click()
  await page.getByLabel('Name of the machine').fill(`desk-${mark}`)
  await page.getByRole('button', { name: 'Make its token' }).click()
  await page.locator('.command', { hasText: `greenroom node --join ${hub.url} --token-file node.token` }).waitFor()
  await page.getByRole('heading', { name: `desk-${mark}` }).waitFor()

  const bundle = { profiles: { [`taken-${mark}`]: { driver: 'rehearsal', display_name: `Taken ${mark}` } } }
  await page.goto(`${hub.url}/profiles`)
  await page.locator('input[type=file]').setInputFiles({ name: 'team.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(bundle)) })
  await page.getByRole('heading', { name: `Taken ${mark}` }).waitFor()
})
