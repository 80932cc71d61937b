import { api, assert, endOf, hub, journey, startRun } from './rig.mjs'

await journey(async (visit) => {
  await api('PUT', '/api/profiles/below', { driver: 'rehearsal' })
  const root = await startRun('SPAWN below SAY below\\nSLEEP 300\nSAY never')
  const page = await visit()
  await page.goto(`${hub.url}/runs/${root.id}`)
  await page.getByRole('tab', { name: /^Tree 2/ }).click()
  await page.getByRole('treeitem').nth(1).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stop this run and its sub-agents' }).click()
  await page.locator('.sums', { hasText: 'Cancelled' }).waitFor()
  const { runs } = await api('GET', `/api/runs/${root.id}/tree`)
  for (const run of runs) assert.equal((await endOf(run.id)).status, 'cancelled')
})
