import { api, askOf, assert, endOf, hub, journey, startRun, until } from './rig.mjs'

/** Home, the side bar, the list of runs and the metrics count the same runs as active. */
await journey(async (visit) => {
  await api('PUT', '/api/profiles/below', { driver: 'rehearsal' })
  const asking = [await startRun('ASK which one?'), await startRun('ASK and which other?')]
  for (const run of asking) await askOf(run)
  const root = await startRun('SPAWN below SLEEP 300\nSAY never')
  const below = await until('a sub-agent', async () => (await api('GET', `/api/runs/${root.id}/tree`)).runs[1])
  await until('the last to be started', async () => (await api('GET', '/api/metrics')).work.runs.pending === 0)
  const { active_runs: active, runs_waiting_for_people: waiting } = (await api('GET', '/api/metrics')).work
  assert.ok(active >= 4 && waiting >= 2)

  const page = await visit()
  const working = page.locator('section', { has: page.getByRole('heading', { name: 'Working' }) })
  await working.locator('header', { hasText: `Working${active}` }).waitFor()
  await page
    .locator('nav a', { hasText: 'Runs' })
    .locator('.count', { hasText: String(active) })
    .waitFor()
  await working.getByRole('link', { name: `${waiting} runs are waiting for you` }).click()
  await page.locator('header', { hasText: `${active} active · ${waiting} waiting for you` }).waitFor()
  await page.locator('.rows').getByText('which one?').waitFor()
  assert.equal(await page.locator('.rows .item').count(), waiting)

  // A run that is opened leaves the filter as it is; without one, sub-agents stand below the run that started them.
  await page.locator('.rows').getByText('and which other?').click()
  await page.getByRole('button', { name: 'Waiting', pressed: true }).waitFor()
  await page.goto(`${hub.url}/runs`)
  const toggle = page.getByRole('button', { name: '1 sub-agents of SPAWN below SLEEP 300' })
  const child = page.locator(`.rows a[href="/runs/${below.id}"]`)
  assert.equal(await toggle.getAttribute('aria-expanded'), 'true')
  await child.waitFor()
  await toggle.click()
  await child.waitFor({ state: 'detached' })

  // The list is sorted by the time that each run is labelled with.
  const times = await page.locator('.rows .item time').evaluateAll((all) => all.map((one) => one.dateTime))
  assert.deepEqual(times, [...times].sort().reverse())

  for (const run of [...asking, root]) {
    await api('POST', `/api/runs/${run.id}/cancel`, {})
    await endOf(run.id)
  }
})
