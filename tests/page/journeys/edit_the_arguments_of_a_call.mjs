import { mkdirSync, readFileSync } from 'node:fs'

import { api, askOf, assert, endOf, hub, journey, startRun, until } from './rig.mjs'

await journey(async (visit) => {
  const desk = `${hub.data}/desk-${Date.now()}`
  mkdirSync(desk)
  await api('PUT', '/api/servers/book', { command: [hub.python, hub.notebook, desk] })
  const shown = await until('the server to be up', async () => {
    const found = await api('GET', '/api/servers/book')
    return found.server.state === 'up' && found.tools.length ? found : null
  })
  assert.ok(shown.tools.some((tool) => tool.name === 'write'))
  await api('POST', '/api/servers/book/accept', { tools: { write: null } })
  const page = await visit()
  const run = await startRun('TOOL book__write {"line": "as the agent wants it"}\nSAY over')
  const ask = await askOf(run)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await page.getByText('as the agent wants it').first().waitFor()
  await page.keyboard.press('e')
  const edited = page.getByLabel('Edited arguments')
  await edited.fill('{ "line": ')
  await page.getByRole('alert').waitFor()
  assert.equal(await page.locator('[data-do=approve]').isDisabled(), true)
  await edited.fill('{ "line": "as the person wants it" }')
  // What is written for one ask is not given to another.
  const other = await startRun('TOOL book__write {"line": "of another agent"}\nSAY over')
  const second = await askOf(other)
  await page.locator(`.ask a[href="/inbox/${second.id}"]`).click()
  await page.getByText('of another agent').first().waitFor()
  await page.keyboard.press('e')
  assert.deepEqual(JSON.parse(await edited.inputValue()), { line: 'of another agent' })
  await api('POST', `/api/runs/${other.id}/cancel`, {})
  await page.locator(`.ask a[href="/inbox/${ask.id}"]`).click()
  await page.getByText('as the agent wants it').first().waitFor()
  await page.keyboard.press('e')
  await edited.fill('{ "line": "as the person wants it" }')
  await page.getByRole('button', { name: 'Approve as edited' }).click()
  await page.getByText('Approved with these arguments:').waitFor() // the answered ask shows what runs, not only what was asked
  await page.locator('.given').getByText('as the person wants it').first().waitFor()
  assert.equal((await endOf(run.id)).status, 'completed')
  assert.equal(readFileSync(`${desk}/notebook`, 'utf8'), 'as the person wants it\n')
  const { answer } = await api('GET', `/api/asks/${ask.id}`)
  assert.deepEqual(answer.arguments, { line: 'as the person wants it' })
  await api('DELETE', '/api/servers/book')
})
