import { api, askOf, assert, endOf, hub, journey, startRun } from './rig.mjs'

await journey(async (visit) => {
  const page = await visit()

  // On the first screen it stands once: with what needs a person, not with what is being worked on.
  const write = await startRun('WRITE poem.txt roses\\nviolets\nSAY written')
  const asking = await askOf(write)
  await page.locator('.need', { has: page.locator(`a[href="/inbox/${asking.id}"]`) }).getByText('+2').waitFor()
  assert.equal(await page.locator(`a[href="/runs/${write.id}"]`).count(), 0)
  await api('POST', `/api/asks/${asking.id}/snooze`, { for_s: 600 })
  await page.locator(`a[href="/runs/${write.id}"]`).waitFor()
  await api('POST', `/api/runs/${write.id}/cancel`, {})

  await page.goto(`${hub.url}/inbox`)
  const open = async (prompt) => {
    const run = await startRun(prompt)
    const ask = await askOf(run)
    await page.locator(`a[href="/inbox/${ask.id}"]`).click()
    return { run, ask }
  }

  const yes = await open('SHELL python3 -c "print(\'approved-once\')"\nSAY {{output}}')
  await page.locator('.command .program', { hasText: 'python3' }).waitFor()
  await page.locator('[data-do=approve]').click()
  assert.match((await endOf(yes.run.id)).output, /approved-once/)

  const no = await open('SHELL rm -rf everything\nSAY after')
  await page.getByLabel(/Words for the agent/).fill('Not in this folder, please')
  await page.locator('[data-do=deny]').click()
  await page.locator(`a[href="/inbox/${no.ask.id}"]`).waitFor({ state: 'detached' })
  const denied = await api('GET', `/api/asks/${no.ask.id}`)
  assert.equal(denied.answer.verdict, 'deny')
  assert.equal(denied.answer.text, 'Not in this folder, please')

  const asked = await open('ASK Which colour shall it be?\nSAY {{answer}}')
  await page.getByRole('button', { name: 'Questions' }).click()
  await page.getByLabel('Your answer…').fill('green')
  await page.locator('[data-do=answer]').click()
  assert.match((await endOf(asked.run.id)).output, /green/)
  const { asks } = await api('GET', '/api/asks?state=open')
  if (!asks.some((ask) => ask.kind === 'question')) await page.getByRole('button', { name: 'All', pressed: true }).waitFor()
  else await page.getByRole('button', { name: 'Questions' }).click()

  const many = await Promise.all([1, 2, 3].map((n) => startRun(`SHELL python3 -c \"print('batch-${n}')\"\nSAY {{output}}`)))
  const ids = await Promise.all(many.map(async (run) => (await askOf(run)).id))
  for (const id of ids) await page.locator('.ask', { has: page.locator(`a[href="/inbox/${id}"]`) }).getByRole('checkbox').check()
  await page.getByRole('toolbar', { name: '3 selected' }).getByRole('button', { name: 'Approve' }).click()
  for (const run of many) assert.match((await endOf(run.id)).output, /batch-/)

  const later = await open('SHELL python3 -c "print(\'later\')"')
  await page.keyboard.press('s')
  await page.locator(`a[href="/inbox/${later.ask.id}"]`).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.locator(`a[href="/inbox/${later.ask.id}"]`).waitFor()
  await api('POST', `/api/runs/${later.run.id}/cancel`, {})
  await page.locator(`a[href="/inbox/${later.ask.id}"]`).waitFor({ state: 'detached' })
})
