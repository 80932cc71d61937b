/** The browser is on a machine of its own, whose cable is pulled without a word to either side. */
import { execFileSync } from 'node:child_process'

import { api, assert, hub, journey } from './rig.mjs'

const cable = (commands) => commands.forEach(([program, ...words]) => execFileSync(program, words))

await journey(async (visit, browser, pages) => {
  const run = await api('POST', '/api/runs', { profile: hub.profile, prompt: 'sit there' })
  const page = await visit()
  await page.goto(`${hub.url}/runs/${run.id}`)
  await page.getByRole('tab', { name: 'Terminal' }).click()
  await page.getByText('You are typing').waitFor()
  await page.keyboard.type('before\n')
  await page.locator('.xterm-rows', { hasText: 'before' }).waitFor()
  for (const { pull, plug, says, after } of hub.cuts) {
    cable(pull)
    await page.keyboard.type('early\n')
    await page.getByRole('status').filter({ hasText: says }).waitFor()
    await page.keyboard.type('lost\n')
    cable(plug)
    await page.getByText('You are typing').waitFor()
    await page.keyboard.type(`${after}\n`)
    await page.locator('.xterm-rows', { hasText: after }).waitFor()
    assert.doesNotMatch(await page.locator('.xterm-rows').innerText(), /early|lost/)
  }
  await api('POST', `/api/runs/${run.id}/cancel`, {})
  for (const one of pages) one.complaints = one.complaints.filter((complaint) => !/net::ERR_|Cross-Origin-Opener-Policy/.test(complaint)) // the cuts, and no TLS
})
