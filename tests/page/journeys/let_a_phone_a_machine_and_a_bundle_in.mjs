import { api, assert, hub, journey } from './rig.mjs'

await journey(async (visit) => {
  const page = await visit()
  const mark = Date.now()
  await page.goto(`${hub.url}/access`)
  await page.getByRole('button', { name: 'New token' }).first().click()
  await page.getByRole('dialog').getByText('Viewer').click()
  await page.getByLabel('Name', { exact: true }).fill(`viewer ${mark}`)
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).last().click()
  await page.locator('.secret', { hasText: 'gr_viewer_' }).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: `Revoke viewer ${mark}` }).click()
  await page.locator('.ask-for').getByRole('button', { name: 'Revoke' }).click()
  await page.locator('.toast', { hasText: 'Revoked' }).waitFor()
  assert.ok((await api('GET', '/api/credentials')).find((one) => one.name === `viewer ${mark}`).revoked_at)

  // A hub that only this machine can reach shows no code that a phone would follow in vain.
  await page.getByRole('button', { name: 'Pair a phone' }).click()
  await page.getByText('No other device can reach this hub yet').waitFor()
  await page.getByText('It listens on 127.0.0.1').waitFor()
  await page.getByText('tailscale serve').waitFor()
  assert.equal(await page.locator('.qr').count(), 0)

  await page.goto(`${hub.url}/nodes`)
  await page.getByRole('button', { name: 'Add a node' }).click()
  await page.getByLabel('Node name').fill(`desk-${mark}`)
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.locator('.command', { hasText: `greenroom node --join ${hub.url} --token-file node.token` }).waitFor()
  await page.getByRole('heading', { name: `desk-${mark}` }).waitFor()

  const bundle = { profiles: { [`taken-${mark}`]: { driver: 'rehearsal', display_name: `Taken ${mark}` } } }
  await page.goto(`${hub.url}/profiles`)
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'team.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(bundle)) })
  await page.getByRole('heading', { name: `Taken ${mark}` }).waitFor()
})
