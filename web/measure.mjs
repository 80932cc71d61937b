/** Measures the page in a real browser, and prints JSON: node web/measure.mjs '{"url":…,"token":…,"thread":…}' */
import { readFileSync } from 'node:fs'

import { launch, open } from './browser.mjs'

const hub = JSON.parse(process.argv[2])
const browser = await launch()
const headers = { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' }
const say = (text) => fetch(`${hub.url}/api/threads/${hub.thread}/messages`, { method: 'POST', headers, body: JSON.stringify({ content: text }) })

/** From the click to rows on the first screen, with nothing in the cache. */
async function first() {
  const { page, context } = await open(browser, hub)
  const cookies = await context.cookies()
  await context.close()
  const cold = await browser.newContext({ viewport: { width: 1360, height: 860 } })
  await cold.addCookies(cookies)
  const fresh = await cold.newPage()
  const began = performance.now()
  await fresh.goto(hub.url)
  await fresh.locator('.section .none, .section .run').first().waitFor()
  const took = performance.now() - began
  const bytes = await loaded(fresh)
  await cold.close()
  return { first_ms: took, first_bytes: bytes }
}

const loaded = (page) => page.evaluate(() => performance.getEntriesByType('resource').filter((one) => /\.(js|css|woff2)$/.test(one.name)).reduce((sum, one) => sum + one.encodedBodySize, 0))

/** What each panel loads beyond the first screen. */
async function panels() {
  const names = JSON.parse(readFileSync(new URL('../src/greenroom/page/panels.json', import.meta.url), 'utf8')).filter((name) => name !== 'home')
  const { page, context } = await open(browser, hub)
  await page.waitForLoadState('networkidle')
  const sizes = {}
  for (const name of names) {
    const before = await loaded(page)
    await page.locator(`a[href="/${name}"]`).first().click()
    await page.waitForURL(new RegExp(`/${name}`))
    await page.waitForLoadState('networkidle')
    sizes[name] = (await loaded(page)) - before
  }
  await context.close()
  return sizes
}

/** Frames while somebody scrolls up through the long thread, about two screens a second. */
const scroll = (page) =>
  page.getByRole('log', { name: 'Messages' }).evaluate(async (box, seconds) => {
    const frames = []
    let last = performance.now()
    for (const until = last + seconds * 1000; last < until; ) {
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      frames.push(now - last)
      box.scrollTop -= Math.min(60, (now - last) * 1.8)
      last = now
    }
    return frames
  }, hub.seconds ?? 8)

/** Frames while fifty messages a second arrive in the thread that is looked at. */
async function stream(page) {
  const heap = () => page.evaluate(() => performance.memory.usedJSHeapSize)
  const before = await heap()
  const watching = page.evaluate(async (seconds) => {
    const frames = []
    let last = performance.now()
    for (const until = last + seconds * 1000; last < until; ) {
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      frames.push(now - last)
      last = now
    }
    return frames
  }, hub.seconds ?? 8)
  let sent = 0
  for (const until = Date.now() + (hub.seconds ?? 8) * 1000; Date.now() < until; ) {
    await Promise.all(Array.from({ length: 5 }, () => say(`streamed **${sent++}**: a line of text as agents write it`)))
    await new Promise((resolve) => setTimeout(resolve, 70))
  }
  return { frames: await watching, sent, grown: (await heap()) - before }
}

const sum = (frames) => ({ frames: frames.length, dropped: frames.filter((ms) => ms > 34).length, worst_ms: Math.max(...frames) })
const cold = await first()
const sizes = await panels()
const { page } = await open(browser, { ...hub, path: `/threads/${hub.thread}` })
await page.locator('.message').first().waitFor()
const scrolled = sum(await scroll(page))
await page.getByRole('button', { name: 'To the newest' }).click()
const streamed = await stream(page)
console.log(JSON.stringify({ ...cold, panels: sizes, scroll: scrolled, stream: { ...sum(streamed.frames), sent: streamed.sent, grown_bytes: streamed.grown } }))
await browser.close()
