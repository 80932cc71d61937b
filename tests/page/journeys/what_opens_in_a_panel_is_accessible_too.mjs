import { judge } from './axe.mjs'
import { api, assert, hub, journey, startRun } from './rig.mjs'

await journey(async (visit) => {
  const run = await startRun('# Look around\nSAY Looking.\nSLEEP 120')
  const found = []
  for (const look of ['light', 'dark']) {
    const page = await visit({ look, path: `/runs/${run.id}` })
    await page.getByRole('tab', { name: 'Tree' }).click()
    await page.getByRole('treeitem').waitFor()
    found.push(...(await judge(page, `${look} tree`)))
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    found.push(...(await judge(page, `${look} keys`)))
    await page.goto(`${hub.url}/?tour=1`)
    await page.getByRole('region', { name: 'Tour' }).waitFor()
    found.push(...(await judge(page, `${look} tour`)))
    await page.getByRole('button', { name: 'End the tour' }).click()
    await page.goto(`${hub.url}/workflows/edit`)
    await page.locator('.vue-flow__node').first().click()
    await page.getByRole('textbox', { name: 'Prompt' }).waitFor()
    found.push(...(await judge(page, `${look} editor`)))
    await page.goto(`${hub.url}/profiles?new=`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor()
    found.push(...(await judge(page, `${look} new profile`)))
  }
  await api('POST', `/api/runs/${run.id}/cancel`, {})
  assert.deepEqual(found, [])
})
