import { api, assert, hub, journey } from './rig.mjs'

await journey(async (visit, browser, pages) => {
  const name = `edited-${Date.now()}`
  await api('PUT', `/api/profiles/${name}`, { driver: 'rehearsal', display_name: 'Before', capabilities: ['code'] })
  const page = await visit()
  await page.goto(`${hub.url}/profiles/${name}`)
  await page.getByText('an agent can start now').first().waitFor()
  await page.getByLabel('Display name').fill('After')
  await page.getByLabel('Can run commands').uncheck()
  await page.getByLabel('Run timeout (s)').fill('0')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: 'write a number from' }).waitFor()
  const refused = pages[0].complaints.splice(0)
  assert.ok(
    refused.every((one) => one.includes('400')),
    refused.join(),
  )
  await page.getByLabel('Run timeout (s)').fill('120')
  await page.keyboard.press('Control+s')
  await page.getByRole('heading', { name: 'After' }).waitFor()
  const { definition } = await api('GET', `/api/profiles/${name}`)
  assert.deepEqual(definition, { driver: 'rehearsal', display_name: 'After', capabilities: ['code'], may_execute: false, timeout_s: 120 })

  // What is not saved is there again when one comes back, and can be taken back.
  const shown = page.getByLabel('Display name')
  await shown.fill('Half done')
  await page.locator('a[href="/profiles/rehearsal"]').click()
  await page.getByRole('heading', { name: 'Rehearsal', exact: true }).waitFor()
  await page.locator(`a[href="/profiles/${name}"]`).click()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  assert.equal(await shown.inputValue(), 'After')

  await page.getByRole('link', { name: 'New profile' }).click()
  await page.waitForFunction(() => document.activeElement?.id === 'profile-name')
  await page.keyboard.type('nobody')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: 'Choose a driver' }).waitFor()
})
