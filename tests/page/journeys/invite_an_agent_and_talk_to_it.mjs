import { api, assert, hub, journey, press } from './rig.mjs'

await journey(async (visit) => {
  await api('PUT', '/api/profiles/talker', {
    driver: 'rehearsal',
    display_name: 'Talker',
    invite_prompt: 'POST {thread_id} Hello, I am here',
  })
  const page = await visit()
  await page.goto(`${hub.url}/threads`)
  await page.locator('main').getByRole('button', { name: 'New thread' }).first().click()
  await page.getByLabel('Topic', { exact: true }).fill(`A talk ${Date.now()}`)
  await page.getByRole('button', { name: 'Create thread' }).click()
  await page.getByRole('heading', { name: /^A talk/ }).waitFor()
  const box = page.getByLabel('Write a message')
  await box.fill('Is **anybody** there?')
  await box.press('Enter')
  await page.locator('.markdown strong', { hasText: 'anybody' }).waitFor()
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.locator('[data-profile=talker]').click()
  await page.locator('.markdown', { hasText: 'Hello, I am here' }).waitFor()
  await page.getByRole('region', { name: /^Run of/ }).waitFor()
  await page.locator('.message', { hasText: 'Hello, I am here' }).hover()
  await page.locator('.message', { hasText: 'Hello, I am here' }).getByRole('button', { name: 'React' }).click()
  await page.getByRole('button', { name: '👍' }).click()
  await page.locator('.reaction', { hasText: '👍' }).waitFor()
  // What is chosen as soon as it is there takes the focus back at once, and not from the box that somebody writes in by then.
  await page
    .locator('.message', { hasText: 'Hello, I am here' })
    .getByRole('button', { name: 'React' })
    .evaluate(async (button) => {
      button.click()
      const emoji = () => [...document.querySelectorAll('.emoji button')].find((one) => one.textContent === '🎉')
      while (!emoji()) await new Promise(requestAnimationFrame)
      emoji().click()
      document.querySelector('.composer textarea').focus()
    })
  await page.locator('.emoji').waitFor({ state: 'detached' })
  assert.equal(await box.evaluate((field) => field === document.activeElement), true, 'the box keeps the focus')
  await page.locator('.message', { hasText: 'Hello, I am here' }).getByRole('button', { name: 'Reply' }).click()
  await box.fill('Good to see you')
  await box.press('Enter')
  await page.locator('.quote', { hasText: 'Hello, I am here' }).waitFor()

  // A reply wakes it again, and a mention once more; its first card stays where it was.
  await page
    .getByRole('region', { name: /^Run of Talker/ })
    .nth(1)
    .waitFor()
  const id = page.url().split('/').at(-1)
  await box.fill(`@Talker\nPOST ${id} I am awake again`)
  await box.press('Enter')
  await page.locator('.message').getByText('I am awake again', { exact: true }).waitFor()
  assert.equal(await page.getByRole('region', { name: /^Run of Talker/ }).count(), 3)

  // What it asks stands among the messages, is answered there, and stays to be read.
  await box.fill('@talker\nSHELL mkdir four-thousand')
  await box.press('Enter')
  await press(page.locator('.ask.waits [data-do=approve]'))
  const over = page.locator('.ask', { hasText: 'Approved' })
  await over.waitFor()
  await page.locator('.ask.waits').waitFor({ state: 'detached' })
  await page.reload()
  await over.getByRole('button').click()
  await over.locator('.program', { hasText: 'mkdir' }).waitFor()

  await page.getByRole('button', { name: 'Search messages' }).last().click()
  await page.getByLabel('Search for').fill('anybody')
  await page.locator('.hit', { hasText: 'anybody' }).waitFor()
  await page.locator('.message', { hasText: 'Good to see you' }).first().waitFor()
  assert.equal(await page.locator('.message', { hasText: 'Is anybody there?' }).count(), 1)
})
