import { judge } from './axe.mjs'
import { api, askOf, assert, endOf, hold, hub, journey, startRun } from './rig.mjs'

await journey(async (visit) => {
  const page = await visit()
  const sentence = (text) => page.locator('[data-rule]', { hasText: text }).waitFor()
  const choice = (name) => page.locator(`[data-choice="${name}"]`)
  const command = `make remembered-${Date.now()}`
  const run = await startRun(`SHELL ${command}\nSAY {{output}}`)
  const ask = await askOf(run)
  const row = page.locator(`.ask a[href="/inbox/${ask.id}"]`)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await page.getByRole('button', { name: 'Snooze', exact: true }).click()
  await page.getByRole('menuitem', { name: 'For four hours' }).click()
  await page.locator('.ask.over', { hasText: command }).waitFor()
  assert.ok((await api('GET', `/api/asks/${ask.id}`)).snoozed_until > Date.now() + 3 * 3_600_000)
  await page.getByRole('button', { name: 'Show snoozed asks' }).click()
  await row.click()
  await page.getByRole('button', { name: 'Unsnooze' }).click()
  await page.getByRole('button', { name: /^All/ }).click()
  await row.click()

  await page.getByRole('button', { name: 'Delegate' }).click()
  await page.getByRole('combobox', { name: 'Delegate' }).fill('room:nightshift')
  await page.keyboard.press('Enter')
  await page.locator('.detail .chip', { hasText: '→ room:nightshift' }).waitFor()
  assert.equal((await api('GET', `/api/asks/${ask.id}`)).delegated_to, 'room:nightshift')

  const why = page.locator('.why')
  await why.getByText('It runs a command').waitFor()
  await page.getByRole('button', { name: 'Scope of this approval' }).click()
  await page.getByRole('menuitem', { name: 'Remember as a rule…' }).click()
  await page.getByRole('radio', { name: 'Always deny' }).click()
  await sentence(`Always deny ${command} for rehearsal, in its own folder, for 90 days.`)
  await page.getByRole('radio', { name: 'Always allow' }).click()
  await sentence(`Always allow ${command} for rehearsal, in its own folder, for 90 days.`)
  await page.locator('.dry .line', { hasText: command }).first().getByText('allow').waitFor()
  await page.getByText(/It would have allowed 1 of the last \d+ calls that were asked about/).waitFor()

  // Chips widen the rule and narrow it again; the JSON is there for whoever wants it.
  await choice('program').click()
  await sentence('Always allow any make command without high risk for rehearsal, in its own folder, for 90 days.')
  await choice('all').click()
  await choice('anywhere').click()
  await sentence('Always allow any make command without high risk for every agent, in any folder it works in, for 90 days.')
  await choice('exact').click()
  await choice('profile').click()
  await choice('30d').click()
  await sentence(`Always allow ${command} for rehearsal, in its own folder, for 30 days.`)
  assert.equal(await page.locator('.rule').isVisible(), false)
  await page.getByText('Rule as JSON').click()
  const shown = JSON.parse(await page.locator('.rule').innerText())
  assert.deepEqual(shown.commands, [command])
  await page.getByRole('button', { name: 'Approve and remember' }).click()
  assert.equal((await endOf(run.id)).status, 'completed')
  const again = await endOf((await startRun(`SHELL ${command}\nSAY {{output}}`)).id)
  assert.equal(again.status, 'completed', 'the rule has answered')
  const { judgements } = await api('GET', `/api/policy/judgements?run_id=${again.id}`)
  assert.equal(judgements[0].decision, 'allow')
  const { rules } = await api('GET', '/api/policy')
  const kept = rules.find((one) => one.name === judgements[0].verdict.rule).rule
  assert.deepEqual({ ...kept, until: 0 }, { ...shown, until: 0 }, 'the rule is the one that was shown')

  // The list of rules says what each is about and when it ends, also where the rule holds only the key of a call.
  const both = await askOf(await startRun('SHELL mkdir -p made && touch made/it\nSAY after'))
  await api('POST', `/api/asks/${both.id}/answer`, { verdict: 'approve', digest: both.digest, scope: 'rule' })
  const keyed = (await api('GET', '/api/policy')).rules.find((one) => one.rule.calls)
  await page.goto(`${hub.url}/policies`)
  for (const [name, about] of [
    [judgements[0].verdict.rule, command],
    [keyed.name, 'mkdir -p made && touch made/it'],
  ]) {
    await page.locator(`[data-rule="${name}"] .about`, { hasText: about }).waitFor()
    await page
      .locator(`[data-rule="${name}"]`)
      .getByText(/^Until \w+ \d+, \d{4}$/)
      .waitFor()
    await api('DELETE', `/api/policy/rules/${name}`)
  }

  // A long call is shown to its end.
  const parts = Array.from({ length: 80 }, (_, n) => `part${n}`).join(' ')
  const long = await startRun(`SHELL make ${parts} && make the-very-end\nSAY after`)
  await page.goto(`${hub.url}/inbox/${(await askOf(long)).id}`)
  await page.getByRole('button', { name: 'Scope of this approval' }).click()
  await page.getByRole('menuitem', { name: 'Remember as a rule…' }).click()
  await sentence(`Always allow make ${parts} && make the-very-end for rehearsal`)
  const rule = page.locator('[data-rule]')
  assert.ok(
    await rule.evaluate((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight),
    'all of it is in sight',
  )
  await api('POST', `/api/runs/${long.id}/cancel`, {})

  // High risk is said, and becomes a rule only after a second step.
  const risky = await startRun('SHELL rm -rf everything\nSAY after')
  const asking = await askOf(risky)
  await page.goto(`${hub.url}/inbox/${asking.id}`)
  await page.getByRole('button', { name: 'Scope of this approval' }).click()
  await page.getByRole('menuitem', { name: 'Remember as a rule…' }).click()
  await page.locator('.risk', { hasText: 'can do lasting harm' }).waitFor()
  assert.equal(await choice('program').count(), 0)
  assert.deepEqual(await judge(page, 'a rule of high risk'), [])
  assert.equal(await page.getByRole('button', { name: 'Approve and remember' }).isDisabled(), true)
  await page.getByLabel(/I have seen the risk/).check()
  await page.getByRole('button', { name: 'Approve and remember' }).click({ trial: true })
  await page.getByRole('radio', { name: 'Always deny' }).click()
  await sentence('Always deny rm -rf everything for rehearsal')
  await page.getByRole('button', { name: 'Deny and remember' }).click()
  await endOf(risky.id)
  const denied = (await api('GET', '/api/policy')).rules.find((one) => one.rule.decision === 'deny')
  assert.deepEqual(denied.rule.commands, ['rm -rf everything'])
  await api('DELETE', `/api/policy/rules/${denied.name}`)

  // To allow it the risk is ticked, and then the approval itself is held down; nothing runs before that.
  const held = await startRun('SHELL rm -rf everything\nSAY after')
  const last = await askOf(held)
  await page.goto(`${hub.url}/inbox/${last.id}`)
  await page.getByRole('button', { name: 'Scope of this approval' }).click()
  await page.getByRole('menuitem', { name: 'Remember as a rule…' }).click()
  await page.getByLabel(/I have seen the risk/).check()
  await page.getByRole('button', { name: 'Approve and remember' }).click()
  assert.equal((await api('GET', `/api/asks/${last.id}`)).state, 'open')
  await hold(page, page.locator('[data-do=approve]'))
  assert.equal((await endOf(held.id)).status, 'completed')
  const allowed = (await api('GET', '/api/policy')).rules.find((one) => one.rule.decision === 'allow')
  assert.deepEqual(allowed.rule.commands, ['rm -rf everything'])
  await api('DELETE', `/api/policy/rules/${allowed.name}`)
})
