import { askOf, endOf, hub, journey, startRun } from './rig.mjs'

await journey(async (visit) => {
  const [first, second] = [await visit(), await visit()]
  const run = await startRun('SHELL python3 -c "print(\'once-only\')"\nSAY done')
  const ask = await askOf(run)
  for (const page of [first, second]) {
    await page.goto(`${hub.url}/inbox/${ask.id}`)
    await page.locator('[data-do=approve]').waitFor()
  }
  await first.locator('[data-do=approve]').click()
  await second.locator(`.ask a[href="/inbox/${ask.id}"]`).waitFor({ state: 'detached' })
  await second.locator('.toast', { hasText: 'approved' }).waitFor()
  await second.locator('.given', { hasText: 'Approved' }).waitFor()
  await endOf(run.id)
})
