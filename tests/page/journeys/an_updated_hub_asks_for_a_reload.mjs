/** A page that is older than its hub says so calmly, answers nothing, and is loaded again only by the person. */
import { api, askOf, assert, hub, journey, press, startRun } from './rig.mjs'

await journey(async (visit, _browser, pages) => {
  const page = await visit()
  await page.locator('.updated').waitFor({ state: 'detached' })
  await page.addInitScript(() => {
    if (!sessionStorage.older) return
    const age = () => document.querySelector('meta[name=greenroom-build]')?.setAttribute('content', 'older')
    new MutationObserver(age).observe(document, { childList: true, subtree: true })
  })
  await page.evaluate(() => (sessionStorage.older = 'yes'))
  const run = await startRun('SHELL touch updated\nSAY after')
  const ask = await askOf(run)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await page.locator('.updated', { hasText: 'Greenroom was updated' }).waitFor()

  const words = page.getByLabel(/Message to the agent/)
  await words.fill('not yet')
  await press(page.locator('[data-do=deny]'))
  await page.locator('.toast', { hasText: 'Reload it, then answer' }).waitFor()
  assert.equal((await api('GET', `/api/asks/${ask.id}`)).state, 'open')
  assert.equal(await words.inputValue(), 'not yet')
  assert.match(pages[0].complaints.splice(0).join(' '), /409/)

  await page.evaluate(() => sessionStorage.removeItem('older'))
  await page.locator('[data-do=reload]').click()
  await page.locator('.updated').waitFor({ state: 'detached' })
  await page.getByLabel(/Message to the agent/).fill('not now')
  await press(page.locator('[data-do=deny]'))
  await page.locator('.given', { hasText: 'Denied' }).waitFor()
  assert.equal((await api('GET', `/api/asks/${ask.id}`)).answer.text, 'not now')
})
