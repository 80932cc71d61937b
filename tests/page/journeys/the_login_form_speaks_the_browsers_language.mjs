import { assert, DESK, hub, journey, PHONE } from './rig.mjs'

const seen = (page) => page.locator('main').innerText()

await journey(async (visit, browser) => {
  for (const viewport of [PHONE, DESK]) {
    const isMobile = viewport === PHONE
    const chinese = await browser.newContext({ viewport, isMobile, locale: 'zh-CN', javaScriptEnabled: false })
    const page = await chinese.newPage()
    await page.goto(`${hub.url}/login`)
    await page.getByRole('button', { name: '登录', exact: true }).waitFor()
    await page.getByRole('textbox', { name: '一次性登录码', exact: true }).fill('wrong')
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-CN')
    assert.doesNotMatch(await seen(page), /Log in|One-time|To get/)
    await page.getByRole('button', { name: '登录', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: '已用过或已过期' }).waitFor()
    assert.doesNotMatch(await seen(page), /already used/)
    const room = await page.locator('main').boundingBox()
    assert.ok(room.x >= 0 && room.x + room.width <= viewport.width && room.y >= 0, 'the form fits the screen')
  }
  const other = await (await browser.newContext({ locale: 'de-DE' })).newPage()
  await other.goto(`${hub.url}/login`)
  await other.getByRole('button', { name: 'Log in', exact: true }).waitFor()
  await other.evaluate(() => localStorage.setItem('greenroom.language', 'zh-CN'))
  await other.reload()
  await other.getByRole('button', { name: '登录', exact: true }).waitFor()
  assert.doesNotMatch(await seen(other), /Log in|One-time|To get/)
})
