/** Measures the page in a real browser, and prints JSON: node web/measure.mjs '{"url":…,"token":…,"thread":…}' */
import { readFileSync } from 'node:fs'

import { DESK, launch, open } from './browser.mjs'

const hub = JSON.parse(process.argv[2])
const browser = await launch()
const headers = { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' }
const SECONDS = hub.seconds ?? 8
const call = async (method, path, body) => {
  const answer = await fetch(hub.url + path, { method, headers, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
const say = (text, thread = hub.thread) => call('POST', `/api/threads/${thread}/messages`, { content: text })
const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** From the click to rows on the first screen, with nothing in the cache. */
async function first() {
  const { context } = await open(browser, hub)
  const storageState = await context.storageState()
  await context.close()
  const cold = await browser.newContext({ viewport: DESK, storageState })
  const fresh = await cold.newPage()
  const began = performance.now()
  await fresh.goto(hub.url)
  await fresh.locator('.section .none, .section .run').first().waitFor()
  const took = performance.now() - began
  const bytes = await loaded(fresh)
  await cold.close()
  return { first_ms: took, first_bytes: bytes }
}

const loaded = (page) =>
  page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((one) => /\.(js|css|woff2)$/.test(one.name))
      .reduce((sum, one) => sum + one.encodedBodySize, 0),
  )

/** What each panel loads beyond the first screen. */
async function panels() {
  const names = JSON.parse(readFileSync(new URL('../src/greenroom/page/panels.json', import.meta.url), 'utf8')).filter(
    (name) => name !== 'home',
  )
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
    for (const until = last + seconds * 1000; last < until;) {
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      frames.push(now - last)
      box.scrollTop -= Math.min(60, (now - last) * 1.8)
      last = now
    }
    return frames
  }, SECONDS)

/** How long each frame takes, for so many seconds. */
const frames = (page, seconds = SECONDS) =>
  page.evaluate(async (seconds) => {
    const found = []
    let last = performance.now()
    for (const until = last + seconds * 1000; last < until;) {
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      found.push(now - last)
      last = now
    }
    return found
  }, seconds)

/** Messages arrive, about fifty in a second. How many there were. */
async function talk(seconds) {
  let sent = 0
  for (const until = Date.now() + seconds * 1000; Date.now() < until;) {
    await Promise.all(Array.from({ length: 5 }, () => say(`streamed **${sent++}**: a line of text as agents write it`)))
    await rest(70)
  }
  return sent
}

/** Frames while messages arrive in the thread that is looked at. */
async function stream(page) {
  const [seen, sent] = await Promise.all([frames(page), talk(SECONDS)])
  return { ...sum(seen), sent }
}

/** What the page holds after its rubbish is taken away. */
async function heap(page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  await devtools.detach()
  return usedSize
}

/** Memory while one looks on for long: at first, halfway and in the end. */
async function memory(page) {
  const seconds = hub.memory_s ?? 60
  const began = await heap(page)
  const first = await talk(seconds / 2)
  const halfway = await heap(page)
  const second = await talk(seconds / 2)
  return { seconds, sent: first + second, began_bytes: began, halfway_bytes: halfway, ended_bytes: await heap(page) }
}

/** Frames while many agents talk, and one of them is looked at. */
async function runs(page) {
  const count = hub.runs ?? 50
  const words = Array.from({ length: 40 + SECONDS * 6 }, (_, n) => `SAY part ${n} of what an **agent** says\nSLEEP 0.2`).join('\n')
  const started = await Promise.all(Array.from({ length: count }, () => call('POST', '/api/runs', { profile: 'rehearsal', prompt: words })))
  await page.goto(`${hub.url}/runs/${started[0].id}`)
  const isTalking = async () => (await call('GET', `/api/runs?status=running&limit=200`)).filter((run) => run.items > 1).length
  for (const until = Date.now() + 90_000; Date.now() < until && (await isTalking()) < count * 0.9;) await rest(300)
  await page.locator('.items .markdown').first().waitFor()
  const talking = await isTalking()
  const seen = sum(await frames(page))
  for (const run of started) await call('POST', `/api/runs/${run.id}/cancel`, {})
  return { ...seen, talking }
}

/** The longest wait of who opens ten messages of a million signs each, whole. */
async function long(page) {
  const { id } = await call('POST', '/api/threads', { topic: 'Long texts' })
  const KINDS = [
    '# Head\n\nSome **bold** words and a [link](https://x.example)\n\n',
    '- item *one*\n',
    '| a | b |\n',
    '> '.repeat(20) + 'deep\n',
    'x',
  ]
  for (let n = 0; n < 10; n++) await say(KINDS[n % KINDS.length].repeat(1_000_000).slice(0, 999_000), id)
  const began = performance.now()
  await page.goto(`${hub.url}/threads/${id}`)
  await page.locator('.message').first().waitFor()
  const opened = performance.now() - began
  const watching = frames(page, SECONDS)
  for (let n = 0; n < 3; n++) {
    await page.evaluate(() =>
      [...document.querySelectorAll('.message button')].findLast((one) => one.textContent === 'Show the whole message')?.click(),
    )
    await page.getByRole('log', { name: 'Messages' }).evaluate((box) => {
      box.scrollTop -= 900
    })
  }
  return { opened_ms: opened, worst_ms: Math.max(...(await watching)) }
}

const sum = (frames) => ({ frames: frames.length, dropped: frames.filter((ms) => ms > 34).length, worst_ms: Math.max(...frames) })
const cold = await first()
const sizes = await panels()
const { page } = await open(browser, { ...hub, path: `/threads/${hub.thread}` })
await page.locator('.message').first().waitFor()
const scrolled = sum(await scroll(page))
await page.getByRole('button', { name: 'Jump to latest' }).click()
const streamed = await stream(page)
const held = await memory(page)
const longest = await long(page)
const talking = await runs(page)
console.log(JSON.stringify({ ...cold, panels: sizes, scroll: scrolled, stream: streamed, memory: held, long: longest, runs: talking }))
await browser.close()
