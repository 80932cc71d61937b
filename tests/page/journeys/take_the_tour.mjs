import { api, assert, hub, journey, PHONE, until, press } from './rig.mjs'

const runs = async () => (await api('GET', '/api/runs?limit=200')).length
/** What the card hides that it must not: what the stop is about, what one writes in, and what sends or answers. */
const hidden = (page) =>
  page.evaluate(() => {
    const card = document.querySelector('.tour').getBoundingClientRect()
    const about = document.querySelector('.ring')?.getBoundingClientRect()
    const isSmall = (box) => box.width > 0 && box.width * box.height < (innerWidth * innerHeight) / 3
    const isNear = (box) => box.left < card.right && box.right > card.left && box.top < card.bottom && box.bottom > card.top
    const isOver = (box) => isSmall(box) && isNear(box)
    const names = [...document.querySelectorAll('main textarea, main [data-do], main form button, main form input')]
      .filter((one) => isOver(one.getBoundingClientRect()))
      .map((one) => one.ariaLabel ?? one.innerText)
    if (about && isOver(about)) names.push('what it is about')
    return names.join(', ')
  })

await journey(async (visit) => {
  const page = await visit()
  const card = page.getByRole('region', { name: 'Tour', exact: true })
  const main = card.locator('.btn.main')
  const at = (stop) => card.getByText(`${stop} of 6`).waitFor()
  const isClear = (page, where) => until(`a card that hides nothing ${where}`, async () => (await hidden(page)) === '')

  // The main button alone leads to the end, and starts each agent once.
  const before = await runs()
  await page.getByRole('button', { name: 'Take the tour' }).click()
  for (const [stop, clicks] of [
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 1],
    [6, 1],
  ]) {
    await at(stop)
    await isClear(page, `at stop ${stop}`)
    for (let click = 1; click <= clicks; click++) {
      const label = await main.innerText()
      await main.click()
      if (click < clicks) await until('another button', async () => (await main.innerText()) !== label)
    }
  }
  await card.waitFor({ state: 'detached' })
  assert.equal((await runs()) - before, 2, 'an agent that works, and one that answers in the thread')

  const left = (await api('GET', '/api/runs?limit=200')).filter((run) => !run.ended_at && run.prompt.includes('visited.txt'))
  for (const run of left) await api('POST', `/api/runs/${run.id}/cancel`, {})

  // Going back and forth starts nothing more; Back, and the asks on the way, work.
  await page.goto(`${hub.url}/?tour=1`)
  await main.click()
  await page.getByRole('heading', { name: /visited.txt/ }).waitFor()
  await isClear(page, 'beside an ask')
  await press(page.locator('[data-do=approve]'))
  await page.getByRole('heading', { name: 'Is this what you expected?' }).waitFor()
  await page.getByLabel('Your answer…').fill('Yes.')
  await isClear(page, 'beside a question')
  await press(page.locator('[data-do=answer]'))
  await main.click()
  await page.waitForURL('**/runs/run_*')
  await page.locator('.markdown', { hasText: 'that is all' }).waitFor()
  await main.click()
  await card.getByRole('button', { name: 'Open a thread' }).click()
  await page.locator('.markdown', { hasText: 'I follow a script' }).waitFor()
  await isClear(page, 'in a thread')
  await card.getByRole('button', { name: 'Next' }).click()
  await page.waitForURL('**/workflows/edit')
  await page.locator('.vue-flow__node').first().waitFor()
  await card.getByRole('button', { name: 'Back' }).click()
  await page.waitForURL('**/threads/thr_*')
  for (const stop of [3, 2, 1])
    await card
      .getByRole('button', { name: 'Back' })
      .click()
      .then(() => at(stop))
  for (const stop of [2, 3, 4, 5, 6])
    await card
      .getByRole('button', { name: 'Next' })
      .click()
      .then(() => at(stop))
  await card.getByRole('button', { name: 'Done' }).click()
  await card.waitFor({ state: 'detached' })
  assert.equal((await runs()) - before, 4, 'nothing was started twice')
  await page.goto(hub.url)
  await page.locator('main h1').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Take the tour' }).count(), 0, 'it is offered once')

  // On a phone the card keeps clear of the box to write in and of what it tells of, too; and it folds.
  const phone = await visit({ size: PHONE, language: 'zh-CN' })
  await phone.getByRole('button', { name: '开始导览' }).click()
  const small = phone.getByRole('region', { name: '导览', exact: true })
  for (let stop = 1; stop <= 6; stop++) {
    await small.getByText(`${stop} / 6`).waitFor()
    if (stop === 2) await phone.getByRole('heading', { name: /visited.txt/ }).waitFor()
    await isClear(phone, `at stop ${stop} on a phone`)
    if (process.env.SHOT) await phone.screenshot({ path: `${process.env.SHOT}-phone-${stop}.png` })
    if (stop === 4) {
      await small.locator('.btn.main').click()
      await phone.locator('.markdown').first().waitFor()
      await isClear(phone, 'in a thread on a phone')
      if (process.env.SHOT) await phone.screenshot({ path: `${process.env.SHOT}-phone-thread.png` })
      await small.getByRole('button', { name: '收起或展开导览' }).click()
      await small.locator('.soft').waitFor({ state: 'detached' })
    }
    await small.locator('.btn.main').click()
  }
  await small.waitFor({ state: 'detached' })
})
