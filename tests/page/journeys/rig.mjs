/** What every journey has: a browser, the hub's REST beside it, and checks that say what was expected. */
import assert from 'node:assert/strict'

import { DESK, launch, open } from '../../../web/browser.mjs'

export { assert, DESK }
export { PHONE } from '../../../web/browser.mjs'
export const hub = JSON.parse(process.argv[2])

export async function api(method, path, body) {
  const headers = { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' }
  const answer = await fetch(hub.url + path, { method, headers, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  const text = await answer.text()
  return text ? JSON.parse(text) : null
}

export const startRun = (prompt, more = {}) => api('POST', '/api/runs', { profile: 'rehearsal', prompt, ...more })
export const endOf = (id) => api('GET', `/api/runs/${id}/wait?for_s=30`)
export const thread = async (topic) => (await api('POST', '/api/threads', { topic: `${topic} ${Date.now()}` })).id

/** What a look finds once there is something, within a bound. */
export async function until(what, look) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const found = await look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  throw new Error(`in vain waited for ${what}`)
}

/** The ask that a run has raised. */
export const askOf = (run) => until(`an ask of ${run.id}`, async () => (await api('GET', `/api/asks?state=open&run_id=${run.id}`)).asks[0])

/** Run a journey and end the process: with 1 when a step failed or the console of a page complained. */
export async function journey(walk) {
  const browser = await launch()
  const pages = []
  const visit = async (options = {}) => {
    const made = await open(browser, { ...hub, code: undefined, ...options })
    pages.push(made)
    made.page.setDefaultTimeout(20_000)
    return made.page
  }
  let code = 0
  try {
    await walk(visit, browser, pages)
  } catch (error) {
    console.error(error)
    for (const { page } of pages) console.error(page.url(), (await page.locator('body').innerText().catch(() => '')).slice(0, 1500))
    if (process.env.SHOT) for (const [at, { page }] of pages.entries()) await page.screenshot({ path: `${process.env.SHOT}-${at}.png` })
    code = 1
  }
  for (const { complaints } of pages)
    for (const complaint of complaints) {
      console.error(`the console complained: ${complaint}`)
      code = 1
    }
  await browser.close()
  process.exit(code)
}
