import { KEY_MS, pause, WAIT_S, api, askOf, assert, endOf, hub, journey, press, settled, startRun } from './rig.mjs'

const WHY_NOT = 'No: this deletes what we still need'

/** Make the browser say that it runs on a Mac. */
const onMac = (page) => page.addInitScript(() => Object.defineProperty(navigator, 'platform', { get: () => 'MacIntel' }))

await journey(async (visit) => {
  const page = await visit()
  const run = await startRun('SHELL mkdir with-words')
  const ask = await askOf(run)
  const box = page.getByLabel(/Message to the agent/)
  const isOpen = async (why) => assert.equal((await api('GET', `/api/asks/${ask.id}`)).state, 'open', why)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await settled(page)

  await box.press('Control+Enter')
  await page.getByRole('status').filter({ hasText: 'Nothing was sent' }).waitFor()
  await isOpen('an empty box is no yes')
  for (const key of ['Control+Enter', 'Meta+Enter']) {
    await box.fill(WHY_NOT)
    await box.press(key)
    await page.getByRole('status').filter({ hasText: 'Choose a button' }).waitFor()
    await isOpen(`${key} does not approve`)
  }
  await box.press('Escape')
  for (const key of ['y', 'Control+Enter', 'Shift+y']) {
    await page.keyboard.press(key)
    await pause(KEY_MS)
  }
  await isOpen('no key approves after the box was left')

  // Nor does one after a look at another ask, a reload, or a visit elsewhere: the words are still there.
  const other = await api('POST', '/api/asks', { kind: 'gate', title: 'Something else' })
  const isKept = async (why) => {
    await settled(page)
    assert.equal(await box.inputValue(), WHY_NOT, why)
    await page.keyboard.press('y')
    await page.getByRole('status').filter({ hasText: 'Choose a button' }).waitFor()
    await isOpen(why)
  }
  await page.locator(`.ask a[href="/inbox/${other.id}"]`).click()
  await page.locator('.detail h2', { hasText: 'Something else' }).waitFor()
  assert.equal(await box.inputValue(), '', 'the words are for one ask alone')
  await page.locator(`.ask a[href="/inbox/${ask.id}"]`).click()
  await isKept('after another ask')
  await page.reload()
  await isKept('after a reload')
  await page.goto('about:blank')
  await page.goBack()
  await isKept('after a visit elsewhere')
  await api('POST', `/api/asks/${other.id}/answer`, { verdict: 'deny' })

  // The button is the next stop of the Tab key: there a key asks first, and Enter once more is no yes either.
  const approve = page.locator('[data-do=approve]')
  for (const key of ['Enter', 'Space']) {
    await settled(page)
    await approve.focus()
    await page.keyboard.press(key)
    const dialog = page.getByRole('dialog', { name: 'Approve and send your words?' })
    await dialog.getByText(WHY_NOT).waitFor()
    await page.waitForFunction(() => document.activeElement?.textContent === 'Cancel')
    await page.keyboard.press(key)
    await dialog.waitFor({ state: 'detached' })
    await isOpen(`${key} asks first`)
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'Approve: For the rest of this run' }).click()
  await page.getByRole('dialog', { name: 'Approve and send your words?' }).waitFor()
  await page.keyboard.press('Escape')
  await isOpen('nor does the palette')

  await press(page.locator('[data-do=deny]'))
  await endOf(run.id)
  const { answer } = await api('GET', `/api/asks/${ask.id}`)
  assert.deepEqual([answer.verdict, answer.text], ['deny', WHY_NOT])
  await page.locator('.given').waitFor()
  assert.equal(await page.evaluate(() => JSON.stringify(sessionStorage).includes('deletes')), false, 'what was sent is kept no longer')

  // A decision is made by yes or no, or by an option: words pass for neither.
  const decision = await api('POST', '/api/asks', { kind: 'decision', title: 'Publish it tonight?' })
  const options = ['Resume', 'Give up'].map((label) => ({ label }))
  const questions = [{ question: 'What now?', options, custom: false }]
  const choice = await api('POST', '/api/asks', { kind: 'decision', title: 'What now?', questions })
  const answers = { [decision.id]: ['Choose a button', 'approve'], [choice.id]: ['Choose one of the options', 'answer'] }
  for (const [id, [said, button]] of Object.entries(answers)) {
    await page.goto(`${hub.url}/inbox/${id}`)
    await settled(page)
    assert.deepEqual(
      await page.locator('.detail :is([data-do=approve], [data-do=answer])').evaluateAll((all) => all.map((one) => one.dataset.do)),
      [button],
    )
    await page.locator('.words').fill('no, not tonight')
    await page.locator('.words').press('Control+Enter')
    await page.getByRole('status').filter({ hasText: said }).waitFor()
    await page.locator('.words').fill('')
    await page.locator('.words').press('Escape')
  }
  await page.keyboard.press('y')
  await page.getByRole('status').filter({ hasText: 'Choose one of the options' }).waitFor()
  await page.getByRole('radio', { name: 'Give up' }).click()
  await press(page.locator('[data-do=answer]'))
  const chosen = await api('GET', `/api/asks/${choice.id}/wait?for_s=${WAIT_S}`)
  assert.deepEqual([chosen.answer.verdict, chosen.answer.options], ['answer', [['Give up']]])
  assert.equal((await api('GET', `/api/asks/${decision.id}`)).state, 'open')
  await api('POST', `/api/asks/${decision.id}/answer`, { verdict: 'deny' })

  // A question has one thing to send, and says with which keys; the list of keys has them too.
  const question = await api('POST', '/api/asks', { kind: 'question', title: 'Which port?' })
  await page.goto(`${hub.url}/inbox/${question.id}`)
  await page.locator('[data-do=answer]').waitFor()
  assert.equal(
    await page
      .locator('[data-do=answer] .kbd')
      .allInnerTexts()
      .then((all) => all.join(' ')),
    'Ctrl ↵',
  )
  await page.keyboard.press('?')
  await page.locator('.help .row', { hasText: 'Send the answer' }).getByText('Ctrl').waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Your answer…').fill('8080')
  await page.getByLabel('Your answer…').press('Control+Enter')
  assert.equal((await api('GET', `/api/asks/${question.id}/wait?for_s=${WAIT_S}`)).answer.text, '8080')

  const mac = await visit()
  await onMac(mac)
  const last = await api('POST', '/api/asks', { kind: 'question', title: 'Which port on the Mac?' })
  await mac.goto(`${hub.url}/inbox/${last.id}`)
  await mac.locator('[data-do=answer]').waitFor()
  assert.equal(
    await mac
      .locator('[data-do=answer] .kbd')
      .allInnerTexts()
      .then((all) => all.join(' ')),
    '⌘ ↵',
  )
  await mac.getByLabel('Your answer…').fill('9090')
  await mac.getByLabel('Your answer…').press('Meta+Enter')
  assert.equal((await api('GET', `/api/asks/${last.id}/wait?for_s=${WAIT_S}`)).answer.text, '9090')
})
