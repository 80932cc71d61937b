import { readFileSync } from 'node:fs'

import { api, askOf, assert, hub, journey, startRun, thread, until } from './rig.mjs'

const panels = JSON.parse(readFileSync(new URL('../../../src/greenroom/page/panels.json', import.meta.url), 'utf8'))

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
  const mark = Date.now()
  const run = await startRun(`SHELL make deep-${mark}`)
  const ask = await askOf(run)
  await api('PUT', `/api/policy/rules/deep-${mark}`, { rule: { decision: 'ask', tools: ['nothing'] } })
  await api('PUT', `/api/workflows/deep-${mark}`, { text: `name: deep-${mark}\nsteps: [{ id: a, set: { b: "1" } }]` })
  const flow = await api('POST', '/api/workflow-runs', { workflow: `deep-${mark}` })
  const agent = await until('the agent of the run', async () => (await api('GET', `/api/runs/${run.id}`)).agent_id)
  const deep = [
    `/threads/${id}`,
    `/runs/${run.id}`,
    `/inbox/${ask.id}`,
    `/agents/${agent}`,
    `/policies/deep-${mark}`,
    `/workflows/edit/deep-${mark}`,
    `/workflows/runs/${flow.id}`,
    '/workflows/edit',
    '/profiles/rehearsal',
    `/runs/${run.id}?tab=tree`,
    `/runs/${run.id}?with=any`,
    `/workflows/runs/${flow.id}?step=a`,
    `/workflows/edit/deep-${mark}?step=a`,
    `/workflows?start=deep-${mark}`,
    '/audit?kind=RunStarted',
    '/metrics?only=rehearsal',
    `/metrics?by=agent&only=${agent}`,
    '/nodes?do=join',
    '/people?do=type',
    '/tools/none/such',
  ]
  const page = await visit()
  for (const path of [...deep, ...panels.map((name) => (name === 'home' ? '/' : `/${name}`))]) {
    await page.goto(hub.url + path)
    await page.reload()
    await page.locator('main h1').first().waitFor()
    const at = path === '/inbox' ? page.url().replace(/\/ask_\w+$/, '') : page.url() // the inbox opens what waits there first
    assert.equal(at, hub.url + path)
  }
  await page.goto(`${hub.url}/policies/deep-${mark}`)
  await page.getByRole('heading', { name: `deep-${mark}` }).waitFor()
  await api('POST', `/api/runs/${run.id}/cancel`, {})
  await api('DELETE', `/api/policy/rules/deep-${mark}`)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'What would you like to do?' }).fill('log out')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/login/)
  await page.goto(`${hub.url}/inbox`)
  assert.match(page.url(), /\/login\?next=/)
})
