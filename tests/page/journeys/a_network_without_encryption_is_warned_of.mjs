import { assert, DESK, hub, journey, PHONE, thread } from './rig.mjs'

await journey(async (visit, browser, pages) => {
  for (const size of [DESK, PHONE]) {
    const page = await visit({ size })
    for (const path of ['/', '/inbox', '/nodes']) {
      await page.goto(hub.url + path)
      await page.getByRole('note').filter({ hasText: 'open to a network without encryption' }).waitFor()
    }
    const card = page.getByRole('article').filter({ has: page.getByRole('heading', { name: hub.node }) })
    await card.getByText('not encrypted', { exact: true }).waitFor()
    await card.getByText('joined with --insecure').waitFor()
    const name = card.getByRole('heading', { name: hub.node })
    assert.ok(await name.evaluate((one) => one.scrollWidth <= one.clientWidth), 'its name is there in full')
    const own = page.getByRole('article').filter({ hasText: 'this machine' })
    assert.equal(await own.getByText('not encrypted').count(), 0, 'the machine of the hub goes over no network')
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-${size.width}.png` })
  }

  // At an address that the browser does not trust it lacks much, and people work there all the same.
  const page = await visit({ url: hub.network })
  assert.equal(await page.evaluate(() => isSecureContext), false)
  await page.getByLabel('Start an agent').fill('SAY begun over the network')
  await page.keyboard.press('Enter')
  await page.locator('.run', { hasText: 'begun over the network' }).first().waitFor()
  await page.goto(`${hub.network}/threads/${await thread('network')}`)
  await page.getByLabel('Write a message').fill('written over the network')
  await page.keyboard.press('Enter')
  const message = page.locator('.message', { hasText: 'written over the network' })
  await message.hover()
  await message.getByRole('button', { name: 'More' }).click()
  await page.getByText('Copy text').click()
  await page.getByText('Copied').waitFor()
  const { complaints } = pages.at(-1)
  const ours = complaints.filter((one) => !one.startsWith('The Cross-Origin-Opener-Policy header has been ignored')) // told by the browser itself
  complaints.splice(0, complaints.length, ...ours)
})
