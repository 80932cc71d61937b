import { createServer } from 'node:http'

import { api, assert, hub, journey, thread } from './rig.mjs'

/** A server on another port of the same host: the browser sends it the cookie, as it does with an agent's dev server. */
async function eavesdrop() {
  const heard = []
  const server = createServer((request, answer) => {
    heard.push(request.headers.cookie ?? '')
    answer.setHeader('content-type', 'text/html').end('<h1>dev server</h1>')
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return { heard, server, url: `http://127.0.0.1:${server.address().port}/` }
}

await journey(async (visit, browser, pages) => {
  const page = await visit()
  assert.ok(!page.url().includes('key='), 'the key does not stay in the address')
  const other = await eavesdrop()
  const tab = await page.context().newPage()
  await tab.goto(other.url)
  await tab.getByRole('heading', { name: 'dev server' }).waitFor()
  const cookie = other.heard.find((one) => one.includes('greenroom_'))
  assert.ok(cookie, 'the browser sends the cookie there')
  const value = /greenroom_\w+=([^;]+)/.exec(cookie)[1]
  const tries = [{ authorization: `Bearer ${value}` }, { 'x-agent-token': value }, { cookie, origin: hub.url }]
  for (const headers of tries) {
    const answer = await fetch(`${hub.url}/api/credentials`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"kind": "operator", "name": "thief"}',
    })
    assert.equal(answer.status, 401, JSON.stringify(headers))
  }
  assert.equal(await tab.evaluate(() => localStorage.getItem('greenroom.key')), null)
  other.server.close()

  const id = await thread('kept')
  await page.goto(`${hub.url}/threads/${id}`)
  await page.getByRole('heading', { name: /^kept / }).waitFor()

  const key = await page.evaluate(() => localStorage.getItem('greenroom.key'))
  for (const before of [`${hub.url}/threads`, 'about:blank']) {
    await page.goto(before)
    await page.goto(`${hub.url}/threads/${id}#key=${'a'.repeat(52)}`)
    await page.getByRole('heading', { name: /^kept / }).waitFor()
    assert.ok(!page.url().includes('key='), 'such an address does not stay')
    assert.equal(await page.evaluate(() => localStorage.getItem('greenroom.key')), key, 'an address changes no login')
  }

  await page.evaluate(() => localStorage.removeItem('greenroom.key'))
  await page.goto(`${hub.url}/threads/${id}`).catch(() => null)
  await page.waitForURL(/\/login\?next=/)
  await page.fill('#code', (await api('POST', '/api/login-codes')).code)
  await page.click('button')
  await page.getByRole('heading', { name: /^kept / }).waitFor()
  pages[0].complaints.length = 0 // what was refused meanwhile is in the console
})
