import { readFileSync } from 'node:fs'

import { judge } from './axe.mjs'
import { api, askOf, assert, hub, journey, startRun, thread } from './rig.mjs'

const root = new URL('../../../', import.meta.url)
const panels = JSON.parse(readFileSync(new URL('src/greenroom/page/panels.json', root), 'utf8'))

await journey(async (visit) => {
  const id = await thread('reachable')
  await api('POST', `/api/threads/${id}/messages`, {
    content: 'A **word**, a `code` and\n\n```\na block\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |',
  })
  const run = await startRun('SHELL python3 -c "print(\'axe\')"', { thread_id: id })
  const ask = await askOf(run)
  const paths = [...panels.map((name) => (name === 'home' ? '/' : `/${name}`)), `/threads/${id}`, `/inbox/${ask.id}`]
  const found = []
  for (const look of ['light', 'dark']) {
    const page = await visit({ look })
    for (const path of paths) {
      await page.goto(hub.url + path)
      await page.locator('main h1').first().waitFor()
      await page.waitForLoadState('networkidle')
      found.push(...(await judge(page, `${look} ${path}`)))
    }
    await page.goto(`${hub.url}/threads/${id}`)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.locator('[data-profile=rehearsal]').waitFor()
    found.push(...(await judge(page, `${look} invite`)))
    await page.keyboard.press('Escape')
    await page.locator('[data-profile=rehearsal]').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.getByLabel('Search for').first().waitFor()
    found.push(...(await judge(page, `${look} search`)))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('option').first().waitFor()
    found.push(...(await judge(page, `${look} palette`)))
  }
  await api('POST', `/api/runs/${run.id}/cancel`, {})
  assert.deepEqual(found, [])
})
