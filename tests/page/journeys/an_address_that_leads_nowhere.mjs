import { assert, hub, journey, PHONE } from './rig.mjs'

await journey(async (visit, _, pages) => {
  const page = await visit()
  for (const path of ['/nothing-of-ours', '/api/nothing', '/runs/a/b/c/d']) {
    const answer = await page.goto(hub.url + path)
    assert.equal(answer.status(), path.startsWith('/runs') ? 200 : 404, path)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.getByText(`There is nothing at ${path}`).waitFor()
    await page.getByRole('link', { name: 'Go to Home' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
  }
  await page.goto(`${hub.url}/home`)
  await page.waitForURL(`${hub.url}/`)
  const phone = await visit({ size: PHONE, language: 'zh-CN' })
  await phone.goto(`${hub.url}/没有/这里`)
  await phone.getByRole('heading', { name: '找不到页面' }).waitFor()
  const title = await phone.getByText('/没有/这里 处没有内容').boundingBox()
  assert.ok(title.x >= 0 && title.x + title.width <= PHONE.width, 'the address stays on the screen')
  if (process.env.SHOT) await phone.screenshot({ path: `${process.env.SHOT}-phone.png` })
  await phone.getByRole('button', { name: '返回', exact: true }).click()
  await phone.getByRole('heading', { name: '首页' }).waitFor()

  // The console tells of the pages that are not there.
  const isMeant = (complaint) => /status of 404/.test(complaint) && !complaint.includes('/assets/')
  for (const { complaints } of pages) complaints.splice(0, complaints.length, ...complaints.filter((one) => !isMeant(one)))
})
