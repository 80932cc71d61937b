import { execFileSync, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

import { open } from '../../../web/browser.mjs'
import { assert, hub, journey } from './rig.mjs'

const data = join(dirname(hub.data), 'restored')
const env = { ...process.env, GREENROOM_LOCAL_NODE: '0' }
const greenroom = (...words) => execFileSync(hub.python, ['-m', 'greenroom', ...words, '--data', data], { env, encoding: 'utf8' })

/** A hub of this journey's own, once it is ready. */
async function serve(port) {
  const program = spawn(hub.python, ['-m', 'greenroom', 'serve', '--data', data, '--port', port], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const said of createInterface(program.stdout)) {
    const [, url, code] = /(http:\S+)\/login\?code=(\w+)/.exec(said)
    return { program, url, code }
  }
}

await journey(async (visit, browser) => {
  const { url, code } = await serve('0')
  try {
    const { page } = await open(browser, { url, code, path: '/runs', wait: hub.wait_ms })
    page.setDefaultTimeout(hub.wait_ms)
    greenroom('stop')
    await page.locator('[data-connection=lost]').waitFor()
    assert.match(greenroom('restore', '--here'), /browser/)
    const again = await serve(new URL(url).port)
    await page.waitForURL((at) => at.pathname === '/login')
    await page.fill('#code', again.code)
    await page.click('button')
    await page.waitForURL((at) => at.pathname === '/runs') // back where it was
    await page.locator('[data-connection=live]').waitFor()
  } finally {
    greenroom('stop')
  }
})
