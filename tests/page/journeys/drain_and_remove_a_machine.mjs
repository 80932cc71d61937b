import { api, assert, hub, journey, until } from './rig.mjs'

await journey(async (visit) => {
  const name = `spare-${Date.now()}`
  const made = await api('POST', '/api/nodes', { name })
  const page = await visit()
  await page.goto(`${hub.url}/nodes`)
  const card = page.getByRole('article').filter({ has: page.getByRole('heading', { name }) })
  const stands = () => api('GET', '/api/nodes').then((all) => all.find((one) => one.name === name))
  await card.getByRole('button', { name: 'Drain' }).click()
  await card.getByText('draining').waitFor()
  assert.equal((await stands()).draining, true)
  await card.getByRole('button', { name: 'Accept agents' }).click()
  await card.getByText('draining').waitFor({ state: 'detached' })
  await card.getByRole('button', { name: 'Remove' }).click()
  await page.locator('.ask-for').getByRole('button', { name: 'Remove' }).click()
  await card.waitFor({ state: 'detached' })
  assert.equal(await stands(), undefined)
  await until(
    'its token to end',
    async () => (await fetch(`${hub.url}/api/me`, { headers: { authorization: `Bearer ${made.token}` } })).status === 401,
  )
  const own = page.getByRole('article').filter({ hasText: 'this machine' })
  await own.waitFor()
  assert.equal(await own.getByRole('button', { name: 'Remove' }).count(), 0, "the hub's own machine stays")
})
