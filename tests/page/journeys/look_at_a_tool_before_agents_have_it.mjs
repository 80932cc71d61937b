import { mkdirSync, writeFileSync } from 'node:fs'

import { api, assert, hub, journey } from './rig.mjs'

const name = `desk-${Date.now() % 100_000}`

await journey(async (visit) => {
  const desk = `${hub.data}/${name}`
  mkdirSync(desk)
  const page = await visit()
  const tools = async () => Object.fromEntries((await api('GET', `/api/servers/${name}`)).tools.map((tool) => [tool.name, tool.state]))
  const line = (tool) => page.getByRole('region', { name }).locator('.tool', { has: page.getByText(tool, { exact: true }) })

  // Added by a form that the palette opens, from wherever one is.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What would you like to do?' }).fill('add a server')
  await page.getByRole('option', { name: 'Add a server', exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Command').fill([hub.python, hub.notebook, desk].map((word) => `"${word}"`).join(' '))
  await page.getByLabel('Risk of its tools').fill('read=low\nwrite=high')
  await page.getByRole('button', { name: 'Add a server' }).last().click()

  // A link leads to the one tool; it says all that it takes, and what it risks.
  await line('write').waitFor()
  await page.goto(`${hub.url}/tools/${name}/write`)
  await line('write').getByText('High risk').waitFor()
  await line('write').getByText(`${name}__write`).waitFor()
  await line('write').getByRole('cell', { name: 'line', exact: true }).waitFor()
  await line('write').getByRole('button', { name: 'Accept' }).click()
  await line('write').getByRole('button', { name: 'Hold' }).waitFor()
  const { write, ...others } = await tools()
  assert.equal(write, 'accepted')
  assert.ok(Object.values(others).every((state) => state === 'held'))

  // Holding it can be taken back.
  await line('write').getByRole('button', { name: 'Hold' }).click()
  await line('write').getByRole('button', { name: 'Accept' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await line('write').getByRole('button', { name: 'Hold' }).waitFor()

  // One that says something else than what was accepted waits again, and shows what has changed.
  writeFileSync(`${desk}/description`, 'Write a line, and send it to everybody.')
  await page.getByRole('button', { name: `Edit ${name}` }).click()
  await page.getByLabel('Description').fill('A notebook')
  await page.getByRole('button', { name: 'Save' }).click()
  await line('write').locator('.diff', { hasText: 'send it to everybody' }).waitFor()
  await page.getByRole('button', { name: `Remove ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('region', { name }).waitFor({ state: 'detached' })
})
