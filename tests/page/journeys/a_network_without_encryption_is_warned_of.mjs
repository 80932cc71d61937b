import { assert, DESK, hub, journey, PHONE } from './rig.mjs'

await journey(async (visit) => {
  for (const size of [DESK, PHONE]) {
    const page = await visit({ size })
    for (const path of ['/', '/inbox', '/nodes']) {
      await page.goto(hub.url + path)
      await page.getByRole('note').filter({ hasText: 'open to a network without encryption' }).waitFor()
    }
    const card = page.getByRole('article').filter({ has: page.getByRole('heading', { name: hub.node }) })
    await card.getByText('not encrypted', { exact: true }).waitFor()
    await card.getByText('let in with --insecure').waitFor()
    const name = card.getByRole('heading', { name: hub.node })
    assert.ok(await name.evaluate((one) => one.scrollWidth <= one.clientWidth), 'its name is there in full')
    const own = page.getByRole('article').filter({ hasText: 'this machine' })
    assert.equal(await own.getByText('not encrypted').count(), 0, 'the machine of the hub goes over no network')
    if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-${size.width}.png` })
  }
})
