import { api, assert, hub, journey } from './rig.mjs'

await journey(async (visit) => {
  await api('PUT', '/api/profiles/echo', { driver: 'pty', command: ['cat'], options: { prompt: 'none' } })
  const run = await api('POST', '/api/runs', { profile: 'echo', prompt: 'sit there' })
  const page = await visit()
  let isCut = false
  const sockets = []
  await page.routeWebSocket(/\/attach/, (socket) => {
    if (isCut) return void socket.close()
    sockets.push(socket)
    socket.connectToServer()
  })
  await page.goto(`${hub.url}/runs/${run.id}`)
  await page.getByRole('tab', { name: 'Terminal' }).click()
  await page.getByText('You are typing').waitFor()
  await page.keyboard.type('before\n')
  await page.locator('.xterm-rows', { hasText: 'before' }).waitFor()
  isCut = true
  for (const socket of sockets) await socket.close()
  await page.getByRole('status').filter({ hasText: 'The connection to the hub is cut' }).waitFor()
  await page.keyboard.type('lost\n')
  isCut = false
  await page.getByText('You are typing').waitFor()
  await page.keyboard.type('after\n')
  await page.locator('.xterm-rows', { hasText: 'after' }).waitFor()
  assert.doesNotMatch(await page.locator('.xterm-rows').innerText(), /lost/)
  await api('POST', `/api/runs/${run.id}/cancel`, {})
})
