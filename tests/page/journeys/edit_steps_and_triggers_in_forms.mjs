import { createHmac, randomUUID } from 'node:crypto'

import { api, assert, hub, journey } from './rig.mjs'

const name = `formed-${Date.now()}`
const YAML = `# a comment that stays
name: ${name}
steps:
  - id: look
    profile: rehearsal
    prompt: SAY one # and this one
  - { id: report, agent: rehearsal, needs: look, retry: 2, prompt: "SAY {{ steps.look.output }}" }
`

await journey(async (visit) => {
  const page = await visit()
  await page.goto(`${hub.url}/workflows/edit`)
  const text = page.getByRole('textbox', { name: 'Workflow as YAML' })
  const well = (count) => page.locator('.problems', { hasText: `No problems: ${count} steps` }).waitFor()
  const says = (what) => page.waitForFunction(([what]) => document.querySelector('.code textarea')?.value.includes(what), [what])
  const part = (title) => page.locator('details').filter({ has: page.locator('summary', { hasText: title }) })
  const unfold = async (title) => (await part(title).evaluate((one) => one.open)) || part(title).locator('summary').click()
  await text.fill(YAML)
  await well(2)

  // Who looks elsewhere meanwhile is warned, loses nothing, and can still begin anew.
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await says('# a comment that stays')
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL('**/runs')
  await page.goto(`${hub.url}/workflows/edit`)
  await says('# a comment that stays')
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Discard all changes' }).click()
  await says('name: my-workflow')
  await page.getByRole('button', { name: 'Undo the last change' }).click()
  await says('# a comment that stays')
  await well(2)

  // From the form to the text, whatever words the text is in.
  await page.locator('[data-id=report] .step').click()
  await unfold('Errors and retries')
  assert.equal(await page.getByLabel('Retries', { exact: true }).inputValue(), '2')
  await page.getByLabel('First delay (s)').fill('0.5')
  await page.getByRole('combobox', { name: 'On error', exact: true }).selectOption('ignore')
  await part('Errors and retries').getByLabel('Timeout (s)').fill('90')
  await unfold('Inputs and outputs')
  await page.getByLabel('Inputs').fill('greeting="hello"\nmany=3')
  await unfold('Approval by people')
  await page.getByRole('combobox', { name: 'Approval', exact: true }).selectOption('arbitrated')
  await page.getByLabel('Approvers').fill('ann, bob')
  await page.getByLabel('Required approvals').fill('1')
  await unfold('Context and output')
  await page.getByLabel('Output schema (JSON)').fill('{ "type": "object"')
  await page.getByRole('alert').first().waitFor()
  await page.getByLabel('Output schema (JSON)').fill('{ "type": "object" }')
  await page.getByLabel('Prompt', { exact: true }).fill('SAY {{ input.greeting }}\nOUTPUT {}')
  await page.getByLabel('Condition (CEL)').fill('steps.nobody.output')
  await page.getByRole('alert').filter({ hasText: 'nobody' }).waitFor()
  await page.getByLabel('Condition (CEL)').fill('inputs.size > 1')
  await page.getByRole('alert').filter({ hasText: 'size' }).waitFor()
  await page.getByRole('tab', { name: 'Workflow' }).click()
  await page.getByLabel('input_name').fill('size')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('region', { name: 'size' }).getByLabel('Type').selectOption('integer')
  await page.getByRole('region', { name: 'size' }).getByLabel('Default').fill('2')
  await well(2)
  await page.locator('[data-id=look] .step').click()
  await page.getByRole('textbox', { name: 'ID', exact: true }).fill('look-first')
  await page.getByRole('textbox', { name: 'ID', exact: true }).press('Enter')
  await says('id: look-first')
  await well(2)

  // The way to a step has a condition, and what takes a step back stands beside it.
  await page.locator('[data-id=report] .step').click()
  await page.getByLabel('After look-first').fill('steps["look-first"].nothing')
  await page.getByRole('alert').filter({ hasText: 'nothing' }).waitFor()
  await page.getByLabel('After look-first').fill('inputs.size > 0')
  await says('when: inputs.size > 0')
  await well(2)
  await page.locator('[data-id=look-first] .step').click()
  await unfold('Rollback')
  await page.getByRole('button', { name: 'Add a rollback' }).click()
  const back = page.locator('.rollback .one')
  await back.getByLabel('Name').fill('undo it')
  await back.getByLabel('Prompt').fill('SAY undone')
  await says('prompt: SAY undone')
  await well(2)
  const written = await text.inputValue()
  for (const kept of ['# a comment that stays', '# and this one']) assert.ok(written.includes(kept), written)

  // From the text to the form.
  await text.fill(written.replace('prompt: SAY one', 'prompt: SAY two'))
  await page.waitForFunction(() => [...document.querySelectorAll('.step-form textarea')].some((one) => one.value === 'SAY two'))
  await page.getByRole('button', { name: 'Step', exact: true }).click()
  await well(3)
  await page.getByLabel('Kind').selectOption('wait')
  await says('seconds: 60')
  await page.getByLabel('Seconds', { exact: true }).fill('0')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await well(2)
  await page.getByRole('button', { name: 'Undo the last change' }).click()
  await well(3)
  await page.getByRole('button', { name: 'Redo' }).click()
  await well(2)

  await page.getByRole('tab', { name: /^Triggers/ }).click()
  await page.getByRole('button', { name: 'schedule' }).click()
  await page.getByLabel('Schedule (cron)', { exact: true }).fill('whenever')
  await page.getByRole('alert').filter({ hasText: 'whenever' }).waitFor()
  await page.getByLabel('Schedule (cron)', { exact: true }).fill('30 4 * * *')
  for (const [kind, count] of [
    ['signed webhook', 2],
    ['message', 3],
    ['end of another workflow', 4],
  ]) {
    await page.getByRole('button', { name: kind, exact: true }).click()
    await page
      .locator('.trigger')
      .nth(count - 1)
      .waitFor()
  }
  await page.getByLabel('After workflow', { exact: true }).fill(name)
  await well(2)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name }).waitFor()
  const { definition, text: stored } = await api('GET', `/api/workflows/${name}`)
  assert.ok(stored.includes('# a comment that stays'), stored)
  const report = definition.steps.find((one) => one.id === 'report')
  assert.deepEqual(report.retry, { max: 2, backoff_s: 0.5 })
  assert.deepEqual(
    [report.on_error, report.timeout_s, report.inputs, report.when],
    ['ignore', 90, { greeting: '"hello"', many: 3 }, 'inputs.size > 1'],
  )
  assert.deepEqual(report.level, { kind: 'arbitrated', stakeholders: ['ann', 'bob'], quorum: 1 })
  assert.deepEqual([report.dependencies, report.output_schema], [['look-first'], { type: 'object' }])
  assert.deepEqual(definition.edges, [{ from: 'look-first', to: 'report', when: 'inputs.size > 0' }])
  const [undo] = definition.steps.find((one) => one.id === 'look-first').rollback
  assert.deepEqual([undo.name, undo.prompt], ['undo it', 'SAY undone'])
  assert.deepEqual(
    definition.triggers.map((one) => one.cron ?? one.message ?? one.after ?? one.webhook),
    ['30 4 * * *', true, { contains: 'please' }, { workflow: name }],
  )

  // A trigger does nothing until it is armed; then a signed call starts a run.
  const call = page.locator('.trigger').nth(1)
  await call.getByRole('button', { name: 'Enable' }).click()
  await call.getByRole('button', { name: 'Enabled' }).waitFor()
  await call.getByRole('button', { name: 'Show secret' }).click()
  await call.locator('dd').nth(1).waitFor()
  const [path, secret] = await call.locator('dd').allInnerTexts()
  const [timestamp, nonce, body] = [String(Math.floor(Date.now() / 1000)), randomUUID(), '{}']
  const found = await signed(path, secret, timestamp, nonce, body)
  assert.equal(found.status, 202, await found.text())
  await call.getByRole('link', { name: 'last run' }).click()
  await page.waitForURL(/\/workflows\/runs\//)
  await page.getByRole('button', { name: 'Abort' }).click()
  await page.getByRole('menuitem', { name: 'Abort and keep completed steps' }).click()
  await page.locator('.bar', { hasText: /Cancelled|Failed/ }).waitFor()
  await api('DELETE', `/api/workflows/${name}`)
})

function signed(path, secret, timestamp, nonce, body) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = `v1,${createHmac('sha256', key).update(`${nonce}.${timestamp}.${body}`).digest('base64')}`
  const headers = {
    'content-type': 'application/json',
    'webhook-id': nonce,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  }
  return fetch(hub.url + path, { method: 'POST', headers, body })
}
