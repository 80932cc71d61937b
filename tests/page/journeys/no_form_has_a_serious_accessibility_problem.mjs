import { judge } from './axe.mjs'
import { assert, hub, journey } from './rig.mjs'

await journey(async (visit) => {
  const found = []
  for (const look of ['light', 'dark']) {
    const page = await visit({ look })
    await page.goto(`${hub.url}/policies`)
    await page.getByRole('button', { name: 'New rule' }).click()
    await page.getByLabel('Position').waitFor()
    found.push(...(await judge(page, `${look} rule`)))
    await page.goto(`${hub.url}/workflows/edit`)
    await page.locator('[data-id=report] .step').click()
    await page.locator('.step-form').waitFor()
    await page.locator('.step-form details').evaluateAll((parts) =>
      parts.forEach((one) => {
        one.open = true
      }),
    )
    found.push(...(await judge(page, `${look} step`)))
    await page.getByRole('tab', { name: 'Triggers' }).click()
    await page.getByRole('button', { name: 'schedule' }).click()
    await page.getByLabel('Schedule (cron)', { exact: true }).waitFor()
    found.push(...(await judge(page, `${look} triggers`)))
    await page.getByRole('tab', { name: 'Workflow' }).click()
    await page.getByRole('region', { name: 'topic' }).waitFor()
    found.push(...(await judge(page, `${look} workflow`)))
  }
  assert.deepEqual(found, [])
})
