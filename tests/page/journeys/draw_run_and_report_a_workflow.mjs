import { api, assert, hub, journey } from './rig.mjs'

const YAML = `name: drawn
steps:
  - id: first
    profile: rehearsal
    prompt: SAY one
  - id: second
    profile: rehearsal
    prompt: "SAY {{ steps.first.output }} and two"
`

await journey(async (visit) => {
  const page = await visit()
  await page.goto(`${hub.url}/workflows/edit`)
  const text = page.getByRole('textbox', { name: 'Workflow as YAML' })
  await text.fill(YAML.replace('rehearsal', 'nobody'))
  await page.locator('.problems', { hasText: 'nobody' }).waitFor()
  await text.fill(YAML)
  await page.locator('.problems', { hasText: 'steps.first' }).waitFor() // it is not upstream yet
  const [from, to] = [page.locator('[data-id=first] .source'), page.locator('[data-id=second] .target')]
  const [a, b] = [await from.boundingBox(), await to.boundingBox()]
  await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2)
  await page.mouse.down()
  await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 8 })
  await page.mouse.up()
  await page.locator('.problems', { hasText: 'No problems: 2 steps' }).waitFor()
  assert.match(await text.inputValue(), /dependencies:\s*\n?\s*(\[\s*first|- first)/)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'drawn' }).waitFor()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.locator('.form').getByRole('button', { name: 'Start' }).click()
  await page.waitForURL(/\/workflows\/runs\//)
  await page.locator('.bar', { hasText: 'Completed' }).waitFor()
  await page.getByRole('row', { name: /second/ }).click()
  await page.locator('.side', { hasText: 'one and two' }).waitFor()
  const [run] = await api('GET', '/api/workflow-runs?workflow=drawn')
  assert.equal(run.status, 'completed')
})
