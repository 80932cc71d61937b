/** A browser on a hub's page, for journeys and screenshots: logs in, and keeps what the console complains of. */
import { chromium } from 'playwright-core'

export const DESK = { width: 1360, height: 860 }
export const PHONE = { width: 390, height: 844 }

/** `headed`: on the screen that $DISPLAY names. */
export async function launch({ headed = false } = {}) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  const voice = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
  return chromium.launch({ executablePath, headless: !headed, args: ['--no-sandbox', '--disable-dev-shm-usage', ...voice] })
}

/** A page of a browser profile of its own. `complaints` fills with errors of the console, of scripts and of the CSP. */
export async function open(browser, { url, code, token, look = 'light', size = DESK, language = 'en', path = '/', wait = 120_000 }) {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: look,
    locale: language,
    isMobile: size.width < 500,
    hasTouch: size.width < 500,
    deviceScaleFactor: Number(process.env.SCALE ?? 1),
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const complaints = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) complaints.push(`outside: ${request.url()}`)
  })
  if (!code) {
    const headers = { authorization: `Bearer ${token}` }
    code = (await (await fetch(`${url}/api/login-codes`, { method: 'POST', headers })).json()).code
  }
  await page.goto(`${url}/login?next=${encodeURIComponent(path)}`)
  await page.fill('#code', code)
  await page.click('button')
  await page.waitForSelector('[data-connection=live]', { state: 'attached', timeout: wait })
  return { context, page, complaints }
}
