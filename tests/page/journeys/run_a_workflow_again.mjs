import { api, assert, journey, PHONE } from './rig.mjs'

await journey(async (visit) => {
  const name = `again-${Date.now()}`
  const text = `name: ${name}\ninputs:\n  who: { type: string, required: true }\n  times: { type: integer, default: 1 }\nsteps:\n  - id: greet\n    set: { words: "inputs.who" }\n`
  await api('PUT', `/api/workflows/${name}`, { text })
  const first = await api('POST', '/api/workflow-runs', { workflow: name, inputs: { who: 'Ann', times: 3 } })
  const page = await visit({ path: `/workflows/runs/${first.id}` })
  await page.locator('.bar', { hasText: 'Completed' }).waitFor()
  await page.getByRole('button', { name: 'Run again' }).click()
  const form = page.locator('.form')
  assert.equal(await form.getByLabel('who').inputValue(), 'Ann')
  assert.equal(await form.getByLabel('times').inputValue(), '3')
  await form.getByLabel('who').fill('Bob')
  await form.getByRole('button', { name: 'Start' }).click()
  await page.waitForURL((url) => /\/workflows\/runs\//.test(url) && !String(url).includes(first.id))
  const second = page.url().split('/').at(-1)
  assert.deepEqual((await api('GET', `/api/workflow-runs/${second}`)).facts.inputs, { who: 'Bob', times: 3 })
  const phone = await visit({ size: PHONE, language: 'zh-CN', path: `/workflows/runs/${first.id}` })
  await phone.getByRole('button', { name: '再次运行' }).click()
  assert.equal(await phone.locator('.form').getByLabel('who').inputValue(), 'Ann')
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than a phone')
})
