import { api, askOf, assert, endOf, hub, journey, startRun, thread } from './rig.mjs'

const NAME = 'Ana Lima'

/** The owner is asked for a name once; from then on the page calls them by it everywhere. */
await journey(async (visit, browser) => {
  const page = await visit()
  await page.getByLabel('What is your name?').last().fill(NAME)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('What is your name?').first().waitFor({ state: 'detached' })

  const talk = await thread('names')
  await api('POST', `/api/threads/${talk}/messages`, { author: 'human', content: 'from a client that knows no name' })
  await page.goto(`${hub.url}/threads/${talk}`)
  await page.locator('.composer textarea, form textarea').last().fill('from the page')
  await page.keyboard.press('Enter')
  await page.getByText('from the page').waitFor()
  const authors = await page.locator('article.message').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  assert.deepEqual([...new Set(authors)], [NAME])

  const run = await startRun('SHELL touch named\nSAY done')
  const ask = await askOf(run)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await page.locator('[data-do=approve]').waitFor()
  await api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'approve', digest: ask.digest, name: 'somebody else' })
  await page.locator('.given', { hasText: NAME }).waitFor()
  await endOf(run.id)

  const agent = (await api('GET', '/api/agents?all=true')).find((one) => one.id === run.agent_id)
  const node = (await api('GET', '/api/nodes'))[0].name
  await page.goto(`${hub.url}/audit?words=${ask.id}`)
  await page.locator('tr', { hasText: 'Ask answered' }).locator('.by', { hasText: NAME }).waitFor()
  const raised = page.locator('tr', { hasText: 'Ask raised' }).locator('.by')
  assert.equal(await raised.innerText(), `${agent.display_name || agent.name}\non ${node}`)

  await page.goto(`${hub.url}/people`)
  await page.locator('.me', { hasText: NAME }).waitFor()
  await page.goto(`${hub.url}/settings`)
  assert.equal(await page.getByLabel('Your name').inputValue(), NAME)

  const other = await browser.newContext({
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  })
  const phone = await other.newPage()
  const { code } = await api('POST', '/api/login-codes')
  await phone.goto(`${hub.url}/login?code=${code}`)
  await phone.click('button')
  await phone.locator('main h1').first().waitFor()
  await page.goto(`${hub.url}/tokens?show=people`)
  await page.waitForURL(/\/access\?show=people/)
  const here = page.locator('li', { hasText: 'This browser' })
  await here.getByText('Chrome on Linux').waitFor()
  await here.getByText(NAME).waitFor()
  await here.getByText('from 127.0.0.1').waitFor()
  const there = page.locator('li', { hasText: 'Safari on iPhone' })
  await there.getByText(NAME).waitFor()
  await there.getByRole('button', { name: 'Revoke Safari on iPhone' }).click()
  await page.locator('.ask-for').getByRole('button', { name: 'Revoke' }).click()
  await there.waitFor({ state: 'detached' })
  await phone.waitForURL(/\/login/)
})
