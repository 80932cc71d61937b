import { api, assert, hub, journey, thread } from './rig.mjs'

await journey(async (visit, browser, pages) => {
  const page = await visit()
  const id = await thread('resume')
  await api('POST', `/api/threads/${id}/messages`, { content: 'before' })
  let cut = false
  await page.routeWebSocket(/\/sync/, (socket) => {
    if (cut) return socket.close()
    const server = socket.connectToServer()
    page.cutNow = () => {
      cut = true
      server.close()
      socket.close()
    }
  })
  await page.goto(`${hub.url}/threads/${id}`)
  await page.locator('.markdown', { hasText: 'before' }).waitFor()
  page.cutNow()
  await page.locator('[data-connection=lost]').waitFor()
  await page.locator('.lost', { hasText: 'Not connected for' }).waitFor()
  for (let n = 0; n < 30; n++) await api('POST', `/api/threads/${id}/messages`, { content: `while away ${n}` })
  cut = false
  const live = page.locator('[data-connection=live]')
  await Promise.any([page.getByRole('button', { name: 'Retry now' }).click(), live.waitFor()]) // it tries by itself, too
  await live.waitFor()
  await page.locator('.markdown', { hasText: 'while away 29' }).waitFor()
  const seen = await page.locator('.message', { hasText: 'while away 29' }).count()
  assert.equal(seen, 1, 'nothing comes twice')
  pages[0].complaints.length = 0 // a socket that cannot be opened is told by the browser itself
})
