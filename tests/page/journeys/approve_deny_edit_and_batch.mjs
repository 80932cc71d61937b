import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { api, askOf, assert, endOf, hub, journey, settled, startRun, press } from './rig.mjs'

await journey(async (visit) => {
  const page = await visit()

  // On the first screen it stands once: with what needs a person, not with what is being worked on.
  const write = await startRun('WRITE poem.txt roses\\nviolets\nSAY written')
  const asking = await askOf(write)
  await page
    .locator('.need', { has: page.locator(`a[href="/inbox/${asking.id}"]`) })
    .getByText('+2')
    .waitFor()
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

  const rowOf = (ask) => page.locator('.ask', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })

  const yes = await open('SHELL mkdir -v approved-once\nSAY {{output}}')
  await page.locator('.command .program', { hasText: 'mkdir' }).waitFor()
  await press(page.locator('[data-do=approve]'))
  assert.match((await endOf(yes.run.id)).output, /approved-once/)

  const no = await open('SHELL rm -rf everything\nSAY after')
  await page.getByLabel(/Message to the agent/).fill('Not in this folder, please')
  await press(page.locator('[data-do=deny]'))
  await page.locator('.given', { hasText: 'Not in this folder, please' }).waitFor()
  const denied = await api('GET', `/api/asks/${no.ask.id}`)
  assert.equal(denied.answer.verdict, 'deny')
  assert.equal(denied.answer.text, 'Not in this folder, please')

  // A question comes from a folder that has only an id for a name: the list does not show that.
  const asked = await open('ASK Which colour shall it be?\nSAY {{answer}}')
  assert.ok(asked.ask.labels.project_directory.endsWith(asked.ask.agent_id))
  assert.ok(!(await rowOf(asked.ask).innerText()).includes('agt_'))
  await page.locator('.detail .who', { hasText: 'in its own folder' }).waitFor()
  await page.getByRole('button', { name: /^Questions/ }).click()
  await page.getByLabel('Your answer…').fill('green')
  await press(page.locator('[data-do=answer]'))
  assert.match((await endOf(asked.run.id)).output, /green/)
  const { asks } = await api('GET', '/api/asks?state=open')
  if (!asks.some((ask) => ask.kind === 'question')) await page.getByRole('button', { name: /^All/, pressed: true }).waitFor()
  else await page.getByRole('button', { name: /^Questions/ }).click()

  // What is approved together shows where each call would run.
  const folder = join(dirname(hub.data), 'projects', 'limits')
  mkdirSync(folder, { recursive: true })
  const many = await Promise.all(
    [1, 2, 3].map((n) => startRun(`SHELL touch batch-${n} && ls\nSAY {{output}}`, n === 3 ? { directory: folder } : {})),
  )
  const picked = await Promise.all(many.map(askOf))
  await page.locator('.detail').hover()
  for (const ask of picked) await rowOf(ask).getByRole('checkbox').check()
  for (const ask of picked.slice(0, 2)) await rowOf(ask).getByText('in its own folder').waitFor()
  const place = rowOf(picked[2]).getByText('in …/projects/limits')
  assert.equal(await place.getAttribute('title'), folder)
  await page.getByRole('toolbar', { name: '3 selected' }).getByRole('button', { name: 'Approve 3' }).click()
  for (const run of many) assert.match((await endOf(run.id)).output, /batch-/)

  // What is put off, or over, stays in its place until one has gone on.
  await page.locator('.detail').hover()
  const later = await open('SHELL mkdir later')
  const row = rowOf(later.ask)
  await settled(page)
  await page.keyboard.press('s')
  await row.getByText('Snoozed').last().waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.getByText('Snoozed').last().waitFor({ state: 'detached' })
  await api('POST', `/api/runs/${later.run.id}/cancel`, {})
  await row.getByText('Withdrawn').last().waitFor()
  await page.goto(`${hub.url}/inbox`)
  await row.waitFor({ state: 'detached' })
})
