/** Screenshots of every panel, desk and phone, light and dark: node web/shots.mjs '{"url":…,"token":…}' folder [paths…] */
import { mkdirSync, readFileSync } from 'node:fs'

import { DESK, PHONE, launch, open } from './browser.mjs'

const [hub, folder, ...chosen] = process.argv.slice(2)
const { url, token } = JSON.parse(hub)
mkdirSync(folder, { recursive: true })
const panels = JSON.parse(readFileSync(new URL('../src/greenroom/page/panels.json', import.meta.url), 'utf8'))
const paths = chosen.length ? chosen : panels.map((name) => (name === 'home' ? '/' : `/${name}`))
const looks = (process.env.LOOKS ?? 'light,dark').split(',')
const sizes = (process.env.SIZES ?? 'desk,phone').split(',')
const language = process.env.SHOT_LANGUAGE ?? 'en'
const browser = await launch()
let bad = 0
for (const size of sizes)
  for (const look of looks) {
    const { page, complaints, context } = await open(browser, { url, token, look, language, size: size === 'desk' ? DESK : PHONE })
    for (const path of paths) {
      await page.goto(url + path)
      await page.waitForSelector('[data-connection=live]', { state: 'attached' })
      await page.waitForTimeout(Number(process.env.SETTLE_MS ?? 500))
      const name = path.replace(/^\//, '').replace(/[^\w-]+/g, '_').slice(0, 40) || 'home'
      await page.screenshot({ path: `${folder}/${name}-${size}-${look}${language === 'en' ? '' : `-${language}`}.png` })
    }
    for (const complaint of complaints) console.error(`${size} ${look}: ${complaint}`)
    bad += complaints.length
    await context.close()
  }
await browser.close()
process.exit(bad ? 1 : 0)
