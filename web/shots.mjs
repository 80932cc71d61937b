/** Screenshots of every panel and of what is worth one, desk and phone, light and dark, with a sample in Chinese.
 *
 *  node web/shots.mjs '{"url":…,"token":…}' folder [names or paths…]
 */
import { mkdirSync, readFileSync } from 'node:fs'

import { DESK, PHONE, launch, open } from './browser.mjs'
import { scenesOf } from './scenes.mjs'

const [hub, folder, ...chosen] = process.argv.slice(2)
const { url, token } = JSON.parse(hub)
mkdirSync(folder, { recursive: true })
const panels = JSON.parse(readFileSync(new URL('../src/greenroom/page/panels.json', import.meta.url), 'utf8'))
const SAMPLES = new Set([
  'home',
  'inbox',
  'threads',
  'runs',
  'workflows',
  'agents',
  'nodes',
  'policies',
  'tools',
  'access',
  'audit',
  'metrics',
  'settings',
])
const shown = panels.map((name) => ({ name, path: name === 'home' ? '/' : `/${name}`, sample: SAMPLES.has(name) }))
const known = [...shown, ...(await scenesOf({ url, token }))]
const asked = chosen.map((one) => known.find((scene) => scene.name === one) ?? { name: one.replace(/\W+/g, '_').slice(0, 40), path: one })
const scenes = asked.length ? asked : known
const list = (name, otherwise) => (process.env[name] ?? otherwise).split(',')
const browser = await launch()
let bad = 0
for (const size of list('SIZES', 'desk,phone'))
  for (const look of list('LOOKS', 'light,dark'))
    for (const language of list('LANGUAGES', 'en,zh-CN')) {
      const fits = (scene) =>
        !(scene.desk && size !== 'desk') &&
        !(scene.phone && size !== 'phone') &&
        (asked.length || language === 'en' || (scene.sample && look === 'light'))
      const wanted = scenes.filter(fits)
      if (wanted.length) bad += await take(wanted, size, look, language)
    }
await browser.close()
process.exit(bad ? 1 : 0)

async function take(wanted, size, look, language) {
  const { page, complaints, context } = await open(browser, { url, token, look, language, size: size === 'desk' ? DESK : PHONE })
  page.setDefaultTimeout(8000)
  for (const scene of wanted) {
    await (scene.out ? shootOutside(scene) : shoot(page, scene)).catch((error) => complaints.push(`${scene.name}: ${error}`))
  }
  for (const complaint of complaints) console.error(`${size} ${look} ${language}: ${complaint}`)
  await context.close()
  return complaints.length

  async function shoot(page, scene) {
    await scene.before?.(page)
    await page.goto(url + scene.path)
    if (!scene.out) await page.waitForSelector('[data-connection=live]', { state: 'attached' })
    await page.waitForLoadState('networkidle')
    await scene.act?.(page)
    await page.waitForTimeout(scene.settle_ms ?? Number(process.env.SETTLE_MS ?? 500))
    await page.screenshot({ path: `${folder}/${scene.name}-${size}-${look}${language === 'en' ? '' : `-${language}`}.png` })
    await scene.after?.(page)
  }

  /** What is seen by who has not logged in. */
  async function shootOutside(scene) {
    const other = await browser.newContext({ viewport: page.viewportSize(), colorScheme: look, locale: language })
    await shoot(await other.newPage(), scene)
    await other.close()
  }
}
