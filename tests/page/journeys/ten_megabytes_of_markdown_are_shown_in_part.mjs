import { api, assert, hub, journey, thread } from './rig.mjs'

const LONG = [
  '# Head\n\nSome **bold** words, a [link](https://x.example) and `code`\n\n',
  '<script>window.__pwned=1</script>\n',
  '| a | <img src=x onerror=window.__pwned=1> |\n',
  '> '.repeat(30) + 'deep\n',
  '\u202ex',
]

await journey(async (visit) => {
  const page = await visit()
  const long = await thread('long')
  for (const piece of LONG)
    for (let n = 0; n < 2; n++)
      await api('POST', `/api/threads/${long}/messages`, {
        content: `${piece.repeat(Math.ceil(999_000 / piece.length)).slice(0, 999_000)}\nend`,
      })
  await page.goto(`${hub.url}/threads/${long}`)
  const whole = page.getByRole('button', { name: 'Show the whole message' })
  await whole.last().click()
  await page
    .getByRole('button', { name: /^Show more/ })
    .first()
    .click()
  const log = page.getByRole('log', { name: 'Messages' })
  for (let step = 0; step < 30; step++)
    await log.evaluate((box) => {
      box.scrollTop -= 1500
    })
  await page.locator('.message').first().waitFor()
  assert.equal(await page.evaluate(() => window.__pwned), undefined)
  const elements = await page.evaluate(() => document.querySelectorAll('*').length)
  assert.ok(elements < 40_000, `only what is looked at is there, not ${elements} elements`)
  await page.getByLabel('Write a message').fill('still **here**')
  await page.keyboard.press('Enter')
  await page.locator('.markdown strong', { hasText: 'here' }).waitFor()
})
