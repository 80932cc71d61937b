import { api, assert, denyAll, journey, PHONE } from './rig.mjs'

await journey(async (visit) => {
  await denyAll()
  const mark = `lot-${Date.now().toString(36).replace(/\d/g, 'q')}`
  const talk = (await api('POST', '/api/threads', { topic: mark })).id // without digits, which are searched for
  const kinds = ['gate', 'question', 'report', 'decision']
  const made = await Promise.all(
    Array.from({ length: 100 }, (_, n) => {
      const more = n % 10 === 0 ? { thread_id: talk } : {}
      return api('POST', '/api/asks', { kind: kinds[n % 4], title: `${mark} number ${n}`, risk: n % 5 === 0 ? 'high' : 'medium', ...more })
    }),
  )
  const page = await visit({ path: '/inbox' })
  const rows = page.locator('.ask', { hasText: mark })
  const search = page.getByRole('searchbox', { name: 'Search asks' })
  await rows.nth(99).waitFor({ state: 'attached' })
  const kindOf = (name) => page.getByRole('toolbar', { name: 'Filter asks' }).getByRole('button', { name })
  const counted = async (name) => Number((await kindOf(name).innerText()).match(/\d+/)[0])
  const { asks } = await api('GET', '/api/asks?state=open&limit=500')
  assert.equal(await counted(/^All/), asks.length)
  for (const [kind, name] of [
    ['gate', /^Gates/],
    ['question', /^Questions/],
    ['report', /^Reports/],
    ['decision', /^Decisions/],
  ])
    assert.equal(await counted(name), asks.filter((ask) => ask.kind === kind).length, kind)

  await page.keyboard.press('/')
  await page.waitForFunction(() => document.activeElement?.type === 'search')
  await page.keyboard.type(`${mark} NUMBER 42`)
  await page.waitForFunction(() => document.querySelectorAll('.ask:not(.here)').length === 1)
  await rows.filter({ hasText: 'number 42' }).waitFor()
  const shown = page.url()
  await search.fill(mark)
  await rows.nth(99).waitFor({ state: 'attached' })
  assert.equal(page.url(), shown, 'what is shown for decision is the same all the while')
  await search.fill('there is nothing like it')
  await page.getByText('No matching asks').waitFor()
  await search.press('Escape')
  await search.press('Escape')
  await rows.nth(99).waitFor({ state: 'attached' })

  const group = page.getByLabel('Group by')
  const headOf = (all) => Object.fromEntries(all.map((one) => [...one.children].map((part) => part.innerText)))
  const heads = () => page.locator('.rows .group').evaluateAll(headOf)
  await search.fill(mark)
  await group.selectOption('By kind')
  assert.deepEqual(Object.values(await heads()), ['25', '25', '25', '25'])
  await group.selectOption('By risk')
  assert.deepEqual(await heads(), { 'High risk': '20', 'Medium risk': '80' })
  await group.selectOption('By thread')
  const byThread = await heads()
  assert.deepEqual([byThread['Without a thread'], byThread[(await api('GET', `/api/threads/${talk}`)).topic]], ['90', '10'])
  await group.selectOption('By agent')
  assert.equal(Object.values(await heads())[0], '100')

  // From one to the next goes through all of them, in the order in which they stand.
  await group.selectOption('By risk')
  const order = await page.locator('.ask .link').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  await page.locator('.ask .link').first().click()
  await page.locator('.detail').hover()
  for (const next of order.slice(1, 4)) {
    await page.keyboard.press('j')
    await page.waitForURL(`**${next}`)
  }
  await group.selectOption('No groups')

  const phone = await visit({ size: PHONE, path: '/inbox', language: 'zh-CN' })
  await phone.getByLabel('搜索请求').fill(`${mark} number 77`)
  await phone.waitForFunction(() => document.querySelectorAll('.ask').length === 1)
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth > innerWidth), false)
  await api('POST', '/api/asks/answers', { answers: made.map((ask) => ({ ask_id: ask.id, verdict: 'deny' })) })
})
