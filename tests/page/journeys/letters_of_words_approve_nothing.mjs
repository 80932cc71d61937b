/** Somebody writes, and what they write into has not come, has gone, or was never there: the letters are no keys. */
import { mkdirSync } from 'node:fs'

import { KEY_MS, api, askOf, assert, denyAll, hub, journey, pause, raise, settled, settledHere, startRun, stateOf, until } from './rig.mjs'

const THOUGHT_MS = 2_500
const deny = (ask) => api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' })

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  const rowOf = (ask) => page.locator('.ask', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })
  const words = page.getByLabel(/Message to the agent/)
  const show = async (ask) => {
    await page.goto(`${hub.url}/inbox/${ask.id}`)
    await settled(page)
  }
  const others = [await raise('one of two'), await raise('two of two')]
  const select = async () => {
    for (const ask of others) await rowOf(ask).getByRole('checkbox').check()
    await settledHere(page)
  }
  const areOpen = async (why) => assert.deepEqual(await Promise.all(others.map(stateOf)), ['open', 'open'], why)

  // The words to search for stand where the bar of a selection is: they are written there all the same.
  await show(await raise('shown while searching'))
  await select()
  await page.keyboard.type('/deploy', { delay: 120 })
  assert.equal(await page.getByRole('searchbox').inputValue(), 'deploy')
  await areOpen('the search was for deploy')

  // The box that somebody is in goes, before they write or while they think: what they write then is for nothing else.
  for (const [begun, thought] of [
    ['', 0],
    ['hmm', THOUGHT_MS],
    ['hmm\n', 0],
  ]) {
    const shown = await raise(`shown with ${begun.trim() || 'nothing'}`)
    await show(shown)
    await select()
    await words.click()
    await page.keyboard.type(begun)
    await deny(shown)
    await page.locator('.given', { hasText: 'Denied' }).waitFor()
    await pause(thought)
    await page.keyboard.type('yes and no, by no means', { delay: 60 })
    await areOpen(`it was for the box in which was written: ${begun}`)
  }

  // Letters in a row are words, also where there was never a box: the last one and the first one are no keys either.
  await show(others[0])
  for (const said of ['you must not do this', 'no, not this']) {
    await page.keyboard.type(said, { delay: 60 })
    await page.locator('[data-note]', { hasText: 'several keys in a row are words' }).waitFor()
    await pause(KEY_MS)
    await areOpen(`it was the beginning of: ${said}`)
    await page.locator('[data-note]').waitFor({ state: 'detached' })
  }
  await page.keyboard.type('apply', { delay: 60 })
  await page.locator('[data-note]').waitFor()
  await areOpen('it was a word')
  await page.locator('[data-note]').waitFor({ state: 'detached' }) // the keys wait longer than the buttons show
  await page.keyboard.press('y')
  await until('one letter alone to count', async () => (await stateOf(others[0])) === 'answered')
  await show(others[1])
  const next = await raise('the one to go on to')
  await rowOf(next).waitFor()
  await page.keyboard.press('y')
  await page.keyboard.press('j')
  await until('a letter before a move to count', async () => (await stateOf(others[1])) === 'answered')
  assert.equal(await stateOf(next), 'open')

  // The focus is on a button: neither the space between two words nor the Enter after them presses it.
  for (const [risk, said] of [
    ['medium', 'do not do this'],
    ['medium', 'no\n'],
    ['high', 'do not do this\n'],
  ]) {
    const shown = await raise(`with the focus on its button, ${said.length}`, { risk })
    await show(shown)
    await page.locator('[data-do=approve]').focus()
    await page.keyboard.type(said, { delay: 60 })
    await page.locator('[data-note]', { hasText: 'several keys in a row are words' }).waitFor()
    await pause(KEY_MS)
    assert.equal(await stateOf(shown), 'open', `it was: ${said}`)
    await deny(shown)
  }
  const pressed = await raise('pressed by one key alone')
  await show(pressed)
  await page.locator('[data-do=approve]').focus()
  await pause(KEY_MS)
  await page.keyboard.press('Space')
  await until('a space alone to count', async () => (await stateOf(pressed)) === 'answered')

  // Whoever edits a call writes at once into what is edited.
  const desk = `${hub.data}/letters-${Date.now()}`
  mkdirSync(desk)
  await api('PUT', '/api/servers/letters', { command: [hub.python, hub.notebook, desk] })
  await until('the server to be up', async () => {
    const { server, tools } = await api('GET', '/api/servers/letters')
    return server.state === 'up' && tools.length
  })
  await api('POST', '/api/servers/letters/accept', { tools: { write: null } })
  const edited = await askOf(await startRun('TOOL letters__write {"line": "as the agent wants it"}'))
  await show(edited)
  await page.keyboard.press('e')
  await settledHere(page)
  await page.keyboard.press('y')
  await page.getByRole('alert').waitFor()
  assert.equal(await stateOf(edited), 'open')
  await denyAll()
})
