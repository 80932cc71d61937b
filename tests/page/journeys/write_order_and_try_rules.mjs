import { WAIT_S, api, askOf, assert, hub, journey, startRun } from './rig.mjs'

await journey(async (visit) => {
  const mark = Date.now()
  const [first, second] = [`first-${mark}`, `second-${mark}`]
  const past = await startRun(`SHELL git push origin topic-${mark}`)
  await api('POST', `/api/asks/${(await askOf(past)).id}/answer`, { verdict: 'deny' })
  const page = await visit()
  await page.goto(`${hub.url}/policies`)
  const write = async (name) => {
    await page.getByRole('button', { name: 'New rule' }).click()
    await page.getByLabel('Name', { exact: true }).fill(name)
  }
  await write(first)
  await page.getByRole('radio', { name: 'Deny' }).click()
  await page.getByRole('textbox', { name: 'Commands' }).fill(`git push origin topic-${mark}`)
  await page.getByRole('textbox', { name: 'Hours' }).fill('from nine to five')
  await page.getByRole('alert').filter({ hasText: 'as 09:00-18:00' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true)
  await page.getByRole('textbox', { name: 'Hours' }).fill('')
  await page
    .locator('.dry .line', { hasText: `topic-${mark}` })
    .getByText('deny')
    .waitFor()
  await page.getByRole('tab', { name: 'TOML' }).click()
  await page.locator('.toml', { hasText: `commands = ["git push origin topic-${mark}"]` }).waitFor()
  await page.getByRole('tab', { name: 'JSON' }).click()
  const json = page.getByLabel('Rule as JSON')
  await json.fill((await json.inputValue()).replace('"deny"', '"deny", "note": "never by hand"'))
  await page.getByRole('tab', { name: 'Form' }).click()
  assert.equal(await page.getByLabel('Reason for this rule').inputValue(), 'never by hand')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator(`[data-rule="${first}"]`).waitFor()

  await write(second)
  await page.getByLabel('Position').selectOption({ label: `Before ${first}` })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator(`[data-rule="${second}"]`).waitFor()
  const order = async () => (await api('GET', '/api/policy')).rules.map((rule) => rule.name).filter((name) => name.endsWith(String(mark)))
  assert.deepEqual(await order(), [second, first])
  const shown = async (names) =>
    page.waitForFunction(
      (names) =>
        JSON.stringify(
          [...document.querySelectorAll('[data-rule]')].map((one) => one.dataset.rule).filter((name) => names.includes(name)),
        ) === JSON.stringify(names),
      names,
    )
  await page.getByRole('button', { name: `Move ${second} down` }).click()
  await shown([first, second])
  await page.locator(`[data-rule="${second}"] .grip`).dragTo(page.locator(`[data-rule="${first}"]`))
  await shown([second, first])
  assert.deepEqual(await order(), [second, first])

  const again = await startRun(`SHELL git push origin topic-${mark}\nSAY over`)
  const ended = await api('GET', `/api/runs/${again.id}/wait?for_s=${WAIT_S}`)
  assert.equal(ended.status, 'completed')
  const { judgements } = await api('GET', `/api/policy/judgements?run_id=${again.id}`)
  assert.equal(judgements[0].verdict.rule, first)
  await api('DELETE', `/api/policy/rules/${second}`)
  await page.getByRole('button', { name: `Remove rule ${first}` }).click()
  await page.locator(`[data-rule="${first}"]`).waitFor({ state: 'detached' })
  await page.locator('.toast', { hasText: 'Rule removed' }).getByRole('button', { name: 'Undo' }).click()
  await page.locator(`[data-rule="${first}"]`).waitFor()
  await api('DELETE', `/api/policy/rules/${first}`)
  await page.getByRole('button', { name: 'Apply' }).first().click()
  const wanted = (await api('GET', '/api/policy/templates'))[0].rules.length
  await page.waitForFunction((count) => document.querySelectorAll('[data-rule^="read-only-"]').length === count, wanted)
  for (const rule of (await api('GET', '/api/policy')).rules)
    if (rule.source === 'template') await api('DELETE', `/api/policy/rules/${rule.name}`)
})
