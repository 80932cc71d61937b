import { mkdirSync } from 'node:fs'

import { api, askOf, assert, hub, journey, startRun, until } from './rig.mjs'

/** The first whole number that JavaScript rounds, and one far beyond. */
const LARGE = ['9007199254740993', '-123456789012345678901234567890']

await journey(async (visit) => {
  const desk = `${hub.data}/desk-${Date.now()}`
  mkdirSync(desk)
  await api('PUT', '/api/servers/book', { command: [hub.python, hub.notebook, desk] })
  await until('the server to be up', async () => {
    const found = await api('GET', '/api/servers/book')
    return found.server.state === 'up' && found.tools.length ? found : null
  })
  await api('POST', '/api/servers/book/accept', { tools: { write: null } })
  const page = await visit()
  const run = await startRun(
    `TOOL book__write {"line": "x", "amount": ${LARGE[0]}, "deep": [{"n": ${LARGE[1]}}], "text": "${LARGE[0]}"}\nSAY over`,
  )
  const ask = await askOf(run)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  for (const number of LARGE) await page.locator('.subject').getByText(number).first().waitFor()
  await page.keyboard.press('e')
  const edited = await page.getByLabel('Edited arguments').inputValue()
  for (const number of LARGE) assert.match(edited, new RegExp(`: ${number}\\b`))
  assert.match(edited, new RegExp(`"text": "${LARGE[0]}"`))
  await api('POST', `/api/runs/${run.id}/cancel`, {})
  await api('DELETE', '/api/servers/book')
})
