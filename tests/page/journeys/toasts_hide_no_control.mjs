import { api, askOf, assert, hub, journey, PHONE, startRun, thread, until } from './rig.mjs'

/** The controls of the panel, the composer and the bar at the foot that a toast lies over. */
const hidden = (page) =>
  page.evaluate(() => {
    const toasts = [...document.querySelectorAll('.toast')].map((one) => one.getBoundingClientRect())
    const isOver = (a, b) => a.width && a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top
    return [...document.querySelectorAll('main button, main input, main textarea, main select, nav a, nav button')]
      .filter((one) => one.checkVisibility() && !one.closest('.code'))
      .filter((one) => toasts.some((toast) => isOver(one.getBoundingClientRect(), toast)))
      .map((one) => one.ariaLabel ?? one.innerText)
      .join(', ')
  })
/** Answer for somebody else what the page shows: it is said there. */
async function answerElsewhere(prompts) {
  const runs = await Promise.all(prompts.map((prompt) => startRun(prompt)))
  const asks = await Promise.all(runs.map(askOf))
  return async () => {
    for (const ask of asks) {
      const given = ask.kind === 'permission' ? { verdict: 'approve', digest: ask.digest } : { verdict: 'answer', text: 'yes' }
      await api('POST', `/api/asks/${ask.id}/answer`, given)
    }
  }
}

await journey(async (visit) => {
  const talk = await thread('Toasts')
  const held = await startRun('ASK Do you see the buttons?')
  const ask = await askOf(held)
  const places = ['/', `/threads/${talk}`, `/inbox/${ask.id}`, `/runs/${held.id}`, '/workflows/edit', '/settings']
  for (const [size, language] of [
    [undefined, 'en'],
    [PHONE, 'zh-CN'],
  ]) {
    const page = await visit({ size, language })
    for (const [at, path] of places.entries()) {
      await page.goto(hub.url + path)
      await page.locator('main h1').first().waitFor()
      const answer = await answerElsewhere(['WRITE notes.txt hello', ...Array(4).fill('ASK Which one?')])
      await page.waitForFunction(() => document.querySelector('[data-connection=live]'))
      await answer()
      await until('three toasts', async () => (await page.locator('.toast').count()) === 3)
      await until(`toasts that hide nothing at ${path}`, async () => (await hidden(page)) === '')
      const said = await page.locator('.toasts').innerText()
      assert.ok(!said.includes(hub.data), said)
      if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-${language}-${at}.png` })
    }
  }
  await api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'answer', text: 'yes' })
})
