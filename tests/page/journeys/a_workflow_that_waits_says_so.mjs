import { api, assert, hub, journey, PHONE, press, until } from './rig.mjs'

const mark = Date.now()
const start = (name, step) => api('POST', '/api/workflow-runs', { definition: { name: `${name}-${mark}`, steps: [step] } })
const waiting = (run) => until('the run to wait', async () => (await api('GET', `/api/workflow-runs/${run.id}`)).run.waits_for?.[0])

await journey(async (visit) => {
  const gate = await start('gated', { id: 'gate', level: { kind: 'confirmed', question: `Ship ${mark}?` } })
  const agent = await start('asking', { id: 'look', profile: 'rehearsal', prompt: 'SHELL echo hello > seen.txt' })
  for (const run of [gate, agent]) await waiting(run)
  const page = await visit()

  // Home, the list and the run say the same: it waits, and the way to the ask is one click.
  const row = (run) => page.locator('.line', { hasText: run.workflow })
  for (const path of ['/', '/workflows']) {
    await page.goto(hub.url + path)
    for (const run of [gate, agent]) {
      await row(run).getByRole('link', { name: 'Waiting for an answer' }).waitFor()
      await row(run).getByRole('img', { name: 'Waiting', exact: true }).waitFor()
    }
  }
  await row(agent).getByRole('link', { name: 'Waiting for an answer' }).click()
  await page.waitForURL(`**/inbox/${(await waiting(agent)).ask_id}`)

  await page.goto(`${hub.url}/workflows/runs/${agent.id}`)
  await page.locator('header.bar', { hasText: 'Waiting' }).waitFor()
  await page.locator('.step.waiting', { hasText: 'look' }).waitFor()
  await press(page.locator('[data-do=approve]').first())
  await page.locator('header.bar', { hasText: 'Completed' }).waitFor()

  const phone = await visit({ size: PHONE, language: 'zh-CN' })
  await phone.goto(`${hub.url}/workflows`)
  await phone.locator('.line', { hasText: gate.workflow }).getByRole('link', { name: '等待答复' }).waitFor()
  if (process.env.SHOT)
    for (const [at, one] of [page, phone].entries()) {
      await one.goto(hub.url)
      await one.getByText(gate.workflow).first().waitFor()
      await one.screenshot({ path: `${process.env.SHOT}-waits-${at}.png` })
    }
  await page.goto(`${hub.url}/workflows/runs/${gate.id}`)
  await page.getByRole('heading', { name: `Ship ${mark}?` }).waitFor()
  await press(page.locator('[data-do=approve]').first())
  await page.locator('header.bar', { hasText: 'Completed' }).waitFor()
  assert.equal((await api('GET', `/api/workflow-runs/${gate.id}`)).run.waiting ?? false, false)
})
