/** AP-03: what is approved is all there to be seen, however long it is and whatever hides in it. */
import { mkdirSync, writeFileSync } from 'node:fs'

import { api, askOf, assert, endOf, hub, journey, startRun } from './rig.mjs'

await journey(async (visit) => {
  const page = await visit()
  const many = Array.from({ length: 500 }, (_, at) => `w${at}`).join(' ')
  const run = await startRun(`SHELL echo ${'x'.repeat(20_000)} ${many}; touch\u00a0/the/very/end\u202e c\u0430t \u3164\nSAY done`)
  const ask = await askOf(run)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await page.locator('[data-do=approve]').waitFor()
  const shown = await page.locator('.command').first().innerText()
  assert.ok(shown.includes('x'.repeat(20_000)), 'the long word is there to its end')
  assert.ok(shown.includes('w499') && shown.includes('/the/very/end'), 'and so is what comes after it')
  assert.ok(!/[\u00a0\u202e\u0430\u3164]/.test(shown), 'what cannot be seen, or passes for another letter, is written out')
  assert.ok(shown.includes('touch⟦U+00A0⟧/the'), 'a space that is none parts no words')
  await api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' })
  await endOf(run.id)

  // Of what a command loads, the card says what the approval covers.
  const desk = `${hub.data}/../desk-${Date.now()}`
  mkdirSync(desk)
  writeFileSync(`${desk}/run.sh`, 'true')
  for (const [command, said] of [
    ['sh ./run.sh', 'the command and the contents of ./run.sh'],
    ['touch one', 'the command, not the contents of files'],
  ]) {
    const other = await startRun(`SHELL ${command}`, { directory: desk })
    const asked = await askOf(other)
    await page.goto(`${hub.url}/inbox/${asked.id}`)
    await page.locator('.subject .bound', { hasText: said }).waitFor()
    await api('POST', `/api/asks/${asked.id}/answer`, { verdict: 'deny' })
    await endOf(other.id)
  }
})
