import { api, hub, journey } from './rig.mjs'

await journey(async (visit) => {
  await api('PUT', '/api/profiles/shell', { driver: 'pty', command: ['bash', '--norc', '-i'] })
  const run = await api('POST', '/api/runs', { profile: 'shell', prompt: 'echo awake' })
  const page = await visit()
  await page.goto(`${hub.url}/runs/${run.id}`)
  await page.getByRole('tab', { name: 'Terminal' }).click()
  await page.locator('.xterm-rows', { hasText: 'awake' }).waitFor()
  await page.getByText('You are typing').waitFor()
  await page.keyboard.type('echo sum $((20 + 22))\n')
  await page.locator('.xterm-rows', { hasText: 'sum 42' }).waitFor()
  await api('POST', `/api/runs/${run.id}/cancel`, {})
})
