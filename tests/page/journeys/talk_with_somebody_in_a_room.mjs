import { api, hub, journey } from './rig.mjs'

await journey(async (visit) => {
  const come = async (name) => {
    const { token } = await api('POST', '/api/credentials', { kind: 'operator', name: `somebody ${name}` })
    const page = await visit({ token })
    await page.goto(`${hub.url}/people`)
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Change your name' }).fill(name)
    await page.keyboard.press('Enter')
    await page.locator('.me', { hasText: name }).waitFor()
    await page.getByText('In room office').waitFor()
    return page
  }
  const ada = await come('Ada')
  const ben = await come('Ben')
  await ada
    .getByRole('link')
    .filter({ has: ada.getByText('Ben', { exact: true }) })
    .click() // not whom a credential named before
  await ada.getByRole('textbox', { name: 'Write to Ben' }).fill('Shall we ship it?')
  await ada.keyboard.press('Enter')
  await ada.getByRole('log').getByText('Shall we ship it?').waitFor()
  await ben.getByRole('link', { name: /Ada.*1$/ }).click()
  await ben.getByRole('log').getByText('Shall we ship it?').waitFor()
  await ben.getByRole('textbox', { name: 'Write to Ada' }).fill('Tomorrow.')
  await ben.keyboard.press('Enter')
  await ada.getByRole('log').getByText('Tomorrow.').waitFor()
  await ben.reload()
  await ben.getByRole('heading', { name: 'Ada' }).waitFor() // the address says with whom one talks
  await ben.close()
  await ada.getByPlaceholder('Ben has left').waitFor()
})
