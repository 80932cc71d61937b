import { api, assert, endOf, hub, journey, PHONE, thread } from './rig.mjs'

await journey(async (visit) => {
  const prompt = 'POST {thread_id} Here I am'
  await api('PUT', '/api/profiles/sleeper', { driver: 'rehearsal', display_name: 'Deep Sleeper', wake_for_people: false })
  await api('PUT', '/api/profiles/lamp', { driver: 'rehearsal', display_name: 'Green Lamp', invite_prompt: prompt })
  const elsewhere = await thread('Elsewhere')
  const other = await api('POST', `/api/threads/${elsewhere}/invite`, { agent_name: 'rehearsal', prompt: 'SAY gone' })
  const topic = await thread('Names')
  const own = await api('POST', `/api/threads/${topic}/invite`, { agent_name: 'sleeper', prompt: 'SAY here' })
  for (const run of [other, own]) await endOf(run.run_id)

  // Members come first, then who can be invited.
  const page = await visit()
  await page.goto(`${hub.url}/threads/${topic}`)
  const box = page.getByLabel('Write a message')
  await box.pressSequentially('@')
  const offers = page.getByRole('listbox').getByRole('option')
  await offers.first().waitFor()
  assert.match(await offers.first().innerText(), /Deep Sleeper\nAsleep/)
  assert.match(await offers.nth(1).innerText(), /invited when you send/)

  // Who will not wake is told of under the message, with a button that wakes it.
  await box.press('Enter')
  await box.pressSequentially('are you there?')
  await box.press('Enter')
  const note = page.locator('.unreached', { hasText: 'does not let people wake it' })
  await note.waitFor()
  await note.getByRole('button', { name: 'Wake Deep Sleeper' }).click()
  await page
    .getByRole('region', { name: /^Run of Deep Sleeper/ })
    .nth(1)
    .waitFor()
  await note.waitFor({ state: 'detached' })

  // Choosing a profile invites it with the message that names it.
  await box.pressSequentially('Please come, @gre')
  await page.getByRole('option', { name: /Green Lamp/ }).waitFor()
  await box.press('Tab')
  await box.press('Enter')
  await page.locator('.markdown', { hasText: 'Here I am' }).waitFor()
  assert.equal(await page.locator('.unreached', { hasText: 'Green Lamp' }).count(), 0)

  // A name that nobody bears is told of; and a profile that is only written can be invited from the note.
  await box.fill('@Grene and @rehearsal, look')
  await box.press('Escape')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.locator('.unreached', { hasText: "Nobody is called 'Grene' here" }).waitFor()
  const callable = page.locator('.unreached', { hasText: 'not in this thread' })
  await callable.getByRole('button', { name: 'Invite Rehearsal' }).click()
  await callable.waitFor({ state: 'detached' })
  await page.reload()
  await page.locator('.unreached', { hasText: "Nobody is called 'Grene' here" }).waitFor()

  const phone = await visit({ size: PHONE, language: 'zh-CN' })
  await phone.goto(`${hub.url}/threads/${topic}`)
  await phone.locator('.unreached', { hasText: '这里没有叫「Grene」的' }).waitFor()
})
