/** A browser on a screen, with a real mouse and real keys: what another window or a dialog was pressed for approves nothing. */
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

import { visitApart } from './apart.mjs'
import { api, assert, denyAll, journey, pause, raise, stateOf, until, within } from './rig.mjs'

const SOON_MS = 600
const LONG_MS = 1_500
const run = promisify(execFile)
const xdotool = async (...words) => (await run('xdotool', words.map(String))).stdout.trim()
const find = (name) => until(name, async () => (await xdotool('search', '--onlyvisible', '--class', name).catch(() => '')).split('\n')[0])

await journey(
  async (_, browser) => {
    await denyAll()
    const page = await visitApart(browser, '/inbox')
    const terminal = spawn('xterm', ['-geometry', '60x10+700+500', '-e', 'cat'], { stdio: 'ignore' })
    const [here, other] = [await find('chromium'), await find('xterm')]
    const toFront = async (window) => {
      await xdotool('windowraise', window)
      await xdotool('windowfocus', '--sync', window)
    }
    await toFront(here)
    await page.evaluate(() => {
      window.keys = []
      addEventListener('keydown', (event) => keys.push(event.timeStamp), { capture: true })
    })
    const isSettled = () =>
      !!document.querySelector('.detail [data-do=approve]') && !document.querySelector('[data-do][aria-disabled=true]')
    const show = async (title) => {
      const ask = await raise(title)
      const path = `/inbox/${ask.id}`
      await page.evaluate((data) => void navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data })), { go: path })
      await page.sees('the ask', (path) => location.pathname === path && !!document.querySelector('.detail [data-do=approve]'), path)
      await pause(LONG_MS)
      await page.sees('what takes input', isSettled)
      return ask
    }
    /** Where the button is on the screen, also when the page is zoomed. */
    const middle = () =>
      page.evaluate(() => {
        const { left, top, width, height } = document.querySelector('.detail [data-do=approve]').getBoundingClientRect()
        const [zoom, bars] = [devicePixelRatio, outerHeight - innerHeight * devicePixelRatio]
        return { x: Math.round(screenX + (left + width / 2) * zoom), y: Math.round(screenY + bars + (top + height / 2) * zoom) }
      })
    const moveTo = async ({ x, y }) => {
      await xdotool('mousemove', x - 30, y - 20)
      await xdotool('mousemove', x, y)
    }
    const pressedIn = () => page.evaluate(() => keys.at(-1) - keys.at(-2))
    const isOpen = async (ask, why) => {
      await pause(LONG_MS)
      assert.equal(await stateOf(ask), 'open', why)
    }
    const deny = (ask) => api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' }).catch(() => null)

    // A window lies over the button, with the mouse on it. It goes away, or this one comes in front: nobody has pointed here.
    const uncover = {
      'the window over it went away': async () => {
        await xdotool('windowfocus', '--sync', here)
        await pause(LONG_MS)
        await xdotool('windowunmap', other)
      },
      'this window came in front': () => toFront(here),
      'this window had the focus before it came in front': async () => {
        await xdotool('windowfocus', '--sync', here)
        await pause(300)
        await xdotool('windowraise', here)
      },
    }
    for (const [why, act] of Object.entries(uncover)) {
      const ask = await show(why)
      const at = await middle()
      await xdotool('windowmove', other, at.x - 100, at.y - 60)
      await toFront(other)
      await moveTo(at)
      await act()
      await pause(LONG_MS)
      await xdotool('click', 1)
      await isOpen(ask, why)
      await xdotool('windowmap', other)
      await xdotool('windowmove', other, 700, 500)
      await toFront(here)
      await deny(ask)
    }

    // The whole page moves on the screen, and the button comes under a mouse that rests: nobody has pointed to it.
    const shift = {
      'the window moved': [
        ['windowmove', here, 200, 10],
        ['windowmove', here, 10, 10],
      ],
      'a bar of the browser opened': [
        ['key', 'ctrl+shift+b'],
        ['key', 'ctrl+shift+b'],
      ],
      'the page was zoomed': [
        ['key', 'ctrl+plus'],
        ['key', 'ctrl+0'],
      ],
    }
    for (const [why, [act, undo]] of Object.entries(shift)) {
      const ask = await show(why)
      const before = await middle()
      const isAt = (what, fits) => until(what, async () => fits(await middle()))
      const isBefore = ({ x, y }) => x === before.x && y === before.y
      await xdotool(...act)
      await isAt('the page elsewhere', (now) => !isBefore(now))
      await pause(LONG_MS)
      const after = await middle()
      const rest = async () => {
        await xdotool(...undo)
        await isAt('the page where it was', isBefore)
        await moveTo(after)
        await pause(LONG_MS)
      }
      await rest()
      await xdotool(...act)
      await isAt('the button under the mouse', ({ x, y }) => x === after.x && y === after.y)
      await pause(LONG_MS)
      await xdotool('click', 1)
      await isOpen(ask, why)
      // The click was under way already, and comes before the page has heard that it is elsewhere.
      for (const seconds of [0.01, 0.03, 0.06, 0.1]) {
        await rest()
        await xdotool(...act, 'sleep', seconds, 'click', 1)
        await isOpen(ask, `${why} ${seconds} s before the click`)
      }
      await xdotool(...undo)
      await isAt('the page where it was', isBefore)
      await deny(ask)
    }

    // The key that closed a dialog is pressed again: it comes to the button that had the focus before the dialog.
    for (const key of ['space', 'Return'])
      await within(SOON_MS, async (tries) => {
        const ask = await show(`${key} ${tries}`)
        await page.evaluate(() => document.querySelector('.detail [data-do=approve]').focus())
        await xdotool('key', 'question')
        await page.sees('the help', () => !!document.querySelector('.help .btn'))
        await page.evaluate(() => document.querySelector('.help .btn').focus())
        await pause(LONG_MS)
        await xdotool('key', '--delay', 40, key, key)
        const took = await pressedIn()
        await pause(LONG_MS)
        const state = await stateOf(ask)
        await xdotool('key', 'Escape')
        await page.sees('no dialog', () => !document.querySelector('.q-dialog'))
        await deny(ask)
        return { took, check: () => assert.equal(state, 'open', `${key} twice within ${took} ms`) }
      })

    // Yes and Enter, as one answers a program in a terminal; and yes that is taken back at once.
    for (const key of ['Return', 'Escape', 'BackSpace'])
      await within(300, async (tries) => {
        const ask = await show(`y and ${key} ${tries}`)
        await xdotool('key', '--delay', 40, 'y', key)
        const took = await pressedIn()
        await pause(LONG_MS)
        const state = await stateOf(ask)
        await deny(ask)
        return { took, check: () => assert.equal(state, 'open', `y and ${key} within ${took} ms`) }
      })

    // Whoever comes from another window presses twice in the same place, as the page says; whoever is here presses once.
    /** Why the page has not taken a press. A busy page hears of two moves of the mouse as one, and asks for another. */
    const obeyNote = async () => {
      const note = await page.evaluate(() => document.querySelector('[data-note]')?.textContent ?? '')
      if (note.includes('Move the pointer')) {
        const { x, y } = await middle()
        await xdotool('mousemove', x - 30, y - 20)
        await pause(300)
        await xdotool('mousemove', x, y)
      }
      return note
    }
    const ask = await show('meant')
    await toFront(other)
    await xdotool('windowmove', other, 20, 600)
    await moveTo(await middle())
    await xdotool('windowfocus', '--sync', here)
    await until('the press that is meant', async () => {
      await xdotool('click', 1)
      await pause(LONG_MS)
      await obeyNote()
      return (await stateOf(ask)) === 'answered'
    })
    const next = await show('meant as well')
    await moveTo(await middle())
    await xdotool('click', 1)
    // A page that has had no time to see the mouse come says why it takes no press.
    await until('the only press, or one after each that the page has said it did not take', async () => {
      if (await obeyNote()) {
        await xdotool('click', 1)
        await pause(LONG_MS)
      }
      return (await stateOf(next)) === 'answered'
    })
    terminal.kill()
  },
  { headed: true },
)
