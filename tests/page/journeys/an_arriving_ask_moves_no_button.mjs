/** What arrives waits behind "2 new" while somebody is at a list, and what is shown for decision never changes by itself. */
import { api, assert, denyAll, hub, isStill, journey, PHONE, raise, settled, stateOf, tap, thread } from './rig.mjs'

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  const fresh = page.locator('[data-do=fresh]')
  const rowOf = (ask) => page.locator('.need, .ask', { has: page.locator(`a[href="/inbox/${ask.id}"]`) })

  // Home.
  const here = [await raise('here before'), await raise('here too')]
  await rowOf(here[1]).waitFor()
  await rowOf(here[0]).hover()
  const buttons = [await isStill(rowOf(here[0]).locator('[data-do=approve]')), await isStill(rowOf(here[1]).locator('[data-do=approve]'))]
  const come = [await raise('come first', { risk: 'high' }), await raise('come second')]
  await fresh.getByText('2 new').waitFor()
  for (const still of buttons) await still('no button has moved')
  assert.equal(await rowOf(come[0]).count(), 0)
  await rowOf(here[0]).locator('[data-do=approve]').click()
  await rowOf(here[0]).getByText('Approved').last().waitFor()
  assert.equal(await stateOf(here[0]), 'answered')
  await page.keyboard.press('u')
  await rowOf(come[0]).waitFor()
  assert.equal(await rowOf(here[0]).count(), 0, 'the list is in its order again')
  assert.equal(await fresh.count(), 0)
  const last = await raise('while nobody is there')
  await page.locator('h1').hover()
  await rowOf(last).waitFor()

  // The inbox shows the ask that its address names, also when a riskier one comes.
  for (const ask of [...come, last]) await api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' })
  await page.goto(`${hub.url}/inbox`)
  await page.waitForURL(`**/inbox/${here[1].id}`)
  await settled(page)
  const shown = await isStill(page.locator('.detail [data-do=approve]'))
  const risky = await raise('riskier than all', { risk: 'high' })
  await rowOf(risky).waitFor()
  await shown('the card stays')
  await page.getByRole('heading', { name: 'here too' }).waitFor()
  await page.keyboard.press('y')
  await page.locator('.given', { hasText: 'Approved' }).waitFor()
  assert.deepEqual([await stateOf(here[1]), await stateOf(risky)], ['answered', 'open'])

  // Somebody is at the list: with the mouse, or with its keys.
  const more = await raise('one to point at')
  await rowOf(more).hover()
  const pointed = await isStill(rowOf(more))
  const third = await raise('riskier again', { risk: 'high' })
  await fresh.getByText('1 new').waitFor()
  await pointed('the row under the pointer stays')
  await fresh.click()
  await rowOf(third).waitFor()

  // In a thread, messages come all the time: the card that somebody is at stays where it is, and can be answered.
  const talk = await thread('busy')
  for (let n = 0; n < 30; n++) await api('POST', `/api/threads/${talk}/messages`, { content: `before ${n}` })
  const card = await raise('among messages', { thread_id: talk })
  await page.goto(`${hub.url}/threads/${talk}`)
  const approve = page.locator('.ask.waits [data-do=approve]')
  await approve.hover()
  await settled(page)
  const middle = await isStill(approve)
  for (let n = 0; n < 10; n++) await api('POST', `/api/threads/${talk}/messages`, { content: `after ${n}` })
  await page.locator('.message', { hasText: 'after 9' }).waitFor({ state: 'attached' })
  await middle('the messages have not moved it')
  await approve.click()
  await page.locator('.ask .given', { hasText: 'Approved' }).waitFor()
  assert.equal(await stateOf(card), 'answered')
  await page.locator('h1').last().hover()
  await page.locator('.message', { hasText: 'after 9' }).waitFor()

  // On a phone nobody knows where the finger is about to be.
  const phone = await visit({ size: PHONE })
  const onPhone = phone.locator('.need', { has: phone.locator(`a[href="/inbox/${more.id}"]`) })
  await onPhone.waitFor()
  await onPhone.locator('[data-do=approve]').scrollIntoViewIfNeeded()
  const touched = await isStill(onPhone)
  const tapped = await raise('come to the phone', { risk: 'high' })
  await phone.locator('[data-do=fresh]').getByText('1 new').waitFor()
  await touched('the row stays')
  await tap(onPhone.locator('[data-do=approve]'))
  await onPhone.getByText('Approved').last().waitFor()
  assert.deepEqual([await stateOf(more), await stateOf(tapped)], ['answered', 'open'])
  await phone.locator('[data-do=fresh]').tap()
  await phone.locator(`a[href="/inbox/${tapped.id}"]`).first().waitFor()
  for (const ask of [risky, third, tapped]) await api('POST', `/api/asks/${ask.id}/answer`, { verdict: 'deny' })
})
