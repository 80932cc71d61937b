/** Nothing is approved in part: a list opens what it cannot show to its end, a batch shows all of its calls first, and a key
 *  approves no call whose end is not on the screen. */
import { askOf, assert, denyAll, hub, journey, PHONE, press, raise, settled, startRun, stateOf, thread, until } from './rig.mjs'

const LONG = `make ${Array.from({ length: 60 }, (_, n) => `part${n}`).join(' ')} the-very-end`
const TALL = `make ${Array.from({ length: 900 }, (_, n) => `part${n}`).join(' ')} the-very-end`

/** Whether all of an element's text is there to be seen: it is neither cut off nor left to scroll to. */
const isWhole = (element) =>
  element.evaluate((one) => {
    for (let at = one; at && !at.matches('main'); at = at.parentElement) {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(at)
      if (textOverflow === 'ellipsis' && at.scrollWidth > at.clientWidth) return false
      const isPanel = at.matches('.scroll, .body')
      if (isPanel) return true
      const isFilled = at.scrollWidth > at.clientWidth + 1 || at.scrollHeight > at.clientHeight + 1
      if (isFilled && (overflowX !== 'visible' || overflowY !== 'visible')) return false
    }
    return true
  })

await journey(async (visit) => {
  await denyAll()
  const short = await askOf(await startRun('SHELL make d'))
  const middle = await askOf(await startRun(`SHELL make ${'some-target '.repeat(12)}end`))
  const long = await askOf(await startRun(`SHELL ${LONG}`))
  const edit = await raise('with more to read', { text: 'and then delete everything' })
  for (const ask of [short, middle, long]) assert.notEqual(ask.risk, 'high')
  const report = await raise('a report', { kind: 'report', text: 'Production was deleted.' })
  const brief = await raise('all is well', { kind: 'report' })
  const questions = [{ question: 'which?', options: [{ label: 'this', description: 'deletes everything' }, { label: 'that' }] }]
  const choice = await raise('which?', { kind: 'question', questions })

  // Home: one click only for what is all there. On a phone the same.
  for (const size of [undefined, PHONE]) {
    const page = await visit({ ...(size ? { size } : {}) })
    const row = (ask) => page.locator('.need', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })
    for (const ask of [long, edit, report]) {
      await row(ask).getByRole('link', { name: 'Review…' }).waitFor()
      assert.equal(await row(ask).locator('[data-do=approve]').count(), 0)
    }
    for (const ask of [short, middle, brief]) await row(ask).locator('[data-do=approve]').waitFor()
    await row(choice).getByRole('link', { name: 'Answer' }).waitFor()
    assert.equal(await row(choice).getByRole('button').count(), 0, 'what is said of its options is not shown here')
    assert.ok(await isWhole(row(short).locator('.title')))
    assert.match(await row(middle).locator('[data-exact]').innerText(), /some-target end$/)
    assert.ok(await isWhole(row(middle).locator('[data-exact]')), 'its end can be seen')
    assert.ok((await row(short).innerText()).includes('in its own folder'), 'and so can its folder')
  }

  // In the inbox and in a thread the call is shown to its end, above the buttons.
  const page = await visit()
  const talk = await thread('a long call')
  const inThread = await askOf(await startRun(`SHELL ${LONG}`, { thread_id: talk }))
  for (const [path, ask] of [
    [`/inbox/${long.id}`, long],
    [`/threads/${talk}`, inThread],
  ]) {
    await page.goto(hub.url + path)
    const command = page.locator('.detail .command')
    await command.waitFor()
    assert.ok(await isWhole(command), `${path} shows ${ask.title}`)
  }

  // A key approves nothing whose end is not on the screen; it shows that end.
  const tall = await askOf(await startRun(`SHELL ${TALL}`))
  await page.goto(`${hub.url}/inbox/${tall.id}`)
  const approve = page.locator('.detail [data-do=approve]')
  await page.waitForFunction(() => document.querySelector('.detail [data-do=approve]')?.ariaDisabled === null)
  await page.keyboard.press('y')
  await page.locator('[data-note]', { hasText: 'Not taken: not all of it was on the screen. Read to its end, then press again.' }).waitFor()
  assert.equal(await stateOf(tall), 'open')
  await until('the end to come into sight', () => approve.evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight))
  await settled(page)
  await page.keyboard.press('y')
  await until('the second press', async () => (await stateOf(tall)) === 'answered')

  // A batch of which the list shows only a part is read first.
  await page.goto(`${hub.url}/inbox/${short.id}`)
  const pick = (ask) =>
    page
      .locator('.ask', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })
      .getByRole('checkbox')
      .check()
  await pick(long)
  await pick(short)
  const all = page.locator('[data-do=approve-all]')
  await all.getByText('Review 2…').waitFor()
  await press(all)
  const sheet = page.locator('.sheet')
  await sheet.getByText('the-very-end').last().waitFor()
  await page.keyboard.press('y')
  for (const ask of [long, short]) assert.equal(await stateOf(ask), 'open', 'it was only shown')
  const reviewed = sheet.locator('[data-do=approve-reviewed]')
  const isBelow = (one) => one.getBoundingClientRect().top > document.querySelector('.sheet .call:last-of-type').getBoundingClientRect().top
  assert.ok(await reviewed.evaluate(isBelow), 'below all of them')
  await press(reviewed)
  for (const ask of [long, short]) await until('the batch', async () => (await stateOf(ask)) === 'answered')

  // All of its text is there, also what came as contents; files, forms and options are looked at alone.
  const piece = await raise('in pieces', { contents: [{ type: 'text', text: 'and drop all tables' }] })
  const form = await raise('with a form', { form: { type: 'object', properties: { port: { type: 'integer' } } } })
  await page.goto(`${hub.url}/inbox/${piece.id}`)
  for (const ask of [piece, brief, form]) await pick(ask)
  await page.getByText('1 to be answered alone').waitFor()
  await press(all)
  await sheet.getByText('and drop all tables').waitFor()
  assert.equal(await sheet.getByText('with a form').count(), 0)
  await denyAll()
})
