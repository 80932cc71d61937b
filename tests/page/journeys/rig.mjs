/** What every journey has: a browser, the hub's REST beside it, and checks that say what was expected. */
import assert from 'node:assert/strict'

import { DESK, launch, open } from '../../../web/browser.mjs'

export { assert, DESK }
export { PHONE } from '../../../web/browser.mjs'
export const hub = JSON.parse(process.argv[2])
/** How long a journey waits for anything, as all tests do. */
export const WAIT_S = hub.wait_ms / 1000

export async function api(method, path, body) {
  const headers = { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' }
  const answer = await fetch(hub.url + path, { method, headers, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  const text = await answer.text()
  return text ? JSON.parse(text) : null
}

export const startRun = (prompt, more = {}) => api('POST', '/api/runs', { profile: 'rehearsal', prompt, ...more })
export const endOf = (id) => api('GET', `/api/runs/${id}/wait?for_s=${WAIT_S}`)
export const thread = async (topic) => (await api('POST', '/api/threads', { topic: `${topic} ${Date.now()}` })).id

/** What a look finds once there is something, within a bound. */
export async function until(what, look) {
  for (const end = Date.now() + hub.wait_ms; Date.now() < end;) {
    const found = await look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  throw new Error(`in vain waited for ${what}`)
}

/** The ask that a run has raised. */
export const askOf = (run) => until(`an ask of ${run.id}`, async () => (await api('GET', `/api/asks?state=open&run_id=${run.id}`)).asks[0])

/** An ask that is approved or denied, raised at once and without an agent. */
export const raise = (title, more = {}) => api('POST', '/api/asks', { kind: 'gate', risk: 'medium', title, ...more })
/** Answer whatever waits, for a journey that needs the first screen for itself. */
export async function denyAll() {
  const { asks } = await api('GET', '/api/asks?state=open&limit=200')
  if (asks.length) await api('POST', '/api/asks/answers', { answers: asks.map((ask) => ({ ask_id: ask.id, verdict: 'deny' })) })
}
export const stateOf = async (ask) => (await api('GET', `/api/asks/${ask.id}`)).state

/** Let time go by as it does between two clicks of a person: only where that time is what is tried. */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** After so long a key that answers has answered: it waits a moment, for it may be the first letter of a word. */
export const KEY_MS = 900

/** Try what a person does within a time, on the page's own clock. Tries that took longer, as on a busy machine, do not count.
 *  An attempt returns how long it took, and what must be true if that was short enough. */
export async function within(ms, attempt) {
  for (let tries = 0; tries < 60; tries++) {
    const { took, check } = await attempt(tries)
    if (took < ms) return check()
  }
  throw new Error(`the machine is too busy for anything within ${ms} ms`)
}

/** Note when the pointer and the keys go down and up, and whether what they go down on says that it takes no input. */
export const noteInput = (page) =>
  page.addInitScript(() => {
    window.noted = {}
    const isDim = (target) => target.closest?.('button')?.ariaDisabled === 'true'
    const note = ({ type, target }) => (noted[type] = { at: performance.now(), isDim: isDim(target) })
    for (const type of ['pointerdown', 'pointerup', 'keydown', 'keyup']) addEventListener(type, note, { capture: true })
  })
export const notedOf = (page) => page.evaluate(() => noted)
export const clockOf = (page) => page.evaluate(() => performance.now())

/** Note where an element is, for a check later that it is there still. */
export async function isStill(element) {
  const before = await element.boundingBox()
  return async (why) => assert.deepEqual(await element.boundingBox(), before, why)
}

/** Where the middle of an element is. */
export async function middleOf(element) {
  const { x, y, width, height } = await element.boundingBox()
  return { x: x + width / 2, y: y + height / 2 }
}

/** Move the mouse there in steps, as a hand does. */
export const moveTo = (page, { x, y }) => page.mouse.move(x, y, { steps: 5 })

/** In the page: until it has drawn what happened, and its controls have looked where they are. */
const seen = async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  for (let looks = 0; looks < 3; looks++) await frame().then(() => new Promise((resolve) => setTimeout(resolve, 110)))
}
/** Wait until everything that answers takes input: not as long as it has just appeared, moved, changed or been covered. */
export async function settled(page) {
  await page.locator('[data-do=deny]').first().click({ trial: true })
  await settledHere(page)
}
/** The same without moving the pointer, which `settled` does. */
export async function settledHere(page) {
  await page.evaluate(seen)
  await page.waitForFunction(() => !document.querySelector('[data-do][aria-disabled=true]'))
}

/** Scroll to a button, wait until it takes input, and move the pointer to it: what a script scrolls has moved by itself, as the
 *  page sees it, and has come under the pointer. */
export async function reach(button) {
  await button.click({ trial: true }) // scrolls until nothing covers it
  await button.evaluate(seen)
  await button.click({ trial: true })
  await wiggle(button)
}
/** Move the pointer on a button, as a hand does that means it. */
export async function wiggle(button) {
  const { mouse } = button.page()
  const [{ x, y }, middle] = [await button.boundingBox(), await middleOf(button)]
  await mouse.move(x + 3, y + 3)
  await mouse.move(middle.x, middle.y)
}
/** Press a button until that is taken. On a busy machine it may still move at the last moment: then the page says so beside it. */
export const press = (button) => untilTaken(button, () => button.click())
export const tap = (button) => untilTaken(button, () => button.tap())
async function untilTaken(button, act) {
  const page = button.page()
  for (let tries = 0; tries < 20; tries++) {
    await reach(button)
    await page.evaluate(() => document.querySelector('[data-note]')?.setAttribute('data-seen', '')) // it is about something else
    await act()
    if (!(await page.locator('[data-note]:not([data-seen])').isVisible())) return
  }
  throw new Error('a press was never taken')
}

/** Hold a button down with the mouse until it has done its work; it has to take input first. */
export async function hold(page, button) {
  await reach(button)
  const { x, y } = await middleOf(button)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await button.waitFor({ state: 'detached' })
  await page.mouse.up()
}

/** The same with a finger. */
export async function holdByFinger(page, button) {
  await reach(button)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [await middleOf(button)] })
  await button.waitFor({ state: 'detached' })
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
}

/** Run a journey and end the process: with 1 when a step failed or the console of a page complained. */
export async function journey(walk, browserOptions) {
  const browser = await launch(browserOptions)
  const pages = []
  const visit = async (options = {}) => {
    const made = await open(browser, { ...hub, code: undefined, wait: hub.wait_ms, ...options })
    pages.push(made)
    made.page.setDefaultTimeout(hub.wait_ms)
    return made.page
  }
  let code = 0
  try {
    await walk(visit, browser, pages)
  } catch (error) {
    console.error(error)
    for (const { page } of pages)
      console.error(
        page.url(),
        (
          await page
            .locator('body')
            .innerText()
            .catch(() => '')
        ).slice(0, 1500),
      )
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
