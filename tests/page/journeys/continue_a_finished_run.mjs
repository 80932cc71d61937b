import { api, assert, endOf, hub, journey, PHONE, startRun, until } from './rig.mjs'

await journey(async (visit) => {
  const first = await endOf((await startRun('SAY one', { directory: hub.data })).id)
  const page = await visit({ path: `/runs/${first.id}` })
  const box = page.getByLabel('Write to the agent')
  await box.fill('RECALL')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(first.id))
  await page.locator('.markdown', { hasText: 'prompts: 2, first: SAY one' }).waitFor()
  const second = page.url().split('/').at(-1)
  const ended = await api('GET', `/api/runs/${second}`)
  assert.deepEqual([ended.agent_id, ended.continues, ended.directory], [first.agent_id, first.id, hub.data])

  // Each of the two leads to the other, in its head.
  const chain = page.locator('.chain')
  await chain.getByRole('link', { name: 'SAY one' }).click()
  await page.waitForURL(`**/runs/${first.id}`)
  await chain.getByText('Continued in RECALL').waitFor()
  await chain.getByRole('link', { name: 'RECALL' }).click()
  await page.waitForURL(`**/runs/${second}`)
  await chain.getByText('Continues SAY one').waitFor()

  // What a run is: where, with what, and which run it continues.
  await page.getByRole('tab', { name: 'Details' }).click()
  const facts = page.locator('dl.list')
  await facts.getByText(hub.data, { exact: true }).waitFor()
  await facts.getByRole('link', { name: first.id }).click()
  await page.waitForURL(`**/runs/${first.id}*`)
  await page.getByText('Continued in').waitFor()

  // An agent that keeps no conversation says so, and a new run starts with the same profile and folder.
  await api('PUT', '/api/profiles/parrot', { driver: 'command', command: ['echo', '{prompt}'], display_name: 'Parrot' })
  const told = await api('POST', '/api/runs', { profile: 'parrot', prompt: 'hello', directory: hub.data })
  await endOf(told.id)
  await page.goto(`${hub.url}/runs/${told.id}`)
  await page.getByText('This agent cannot continue its conversation.').waitFor()
  await box.fill('hello again')
  await page.getByRole('button', { name: 'Start a new run' }).click()
  const again = await until('the new run', async () => (await api('GET', '/api/runs')).find((one) => one.prompt === 'hello again'))
  assert.deepEqual([again.profile, again.overrides.directory], ['parrot', hub.data])

  const phone = await visit({ size: PHONE, language: 'zh-CN', path: `/runs/${first.id}` })
  await phone.getByLabel('写给智能体').fill('SAY 好')
  await phone.getByRole('button', { name: '继续' }).click()
  await phone.locator('.markdown', { hasText: '好' }).waitFor()
})
