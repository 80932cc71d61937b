/** A page in a tab of its own that can really be left: one that Playwright holds always believes that it has the focus. */
import { api, hub, until } from './rig.mjs'

export async function openApart(browser, url) {
  const root = await browser.newBrowserCDPSession()
  const { targetId } = await root.send('Target.createTarget', { url })
  const { sessionId } = await root.send('Target.attachToTarget', { targetId, flatten: false })
  const waiting = new Map()
  root.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, error, result } = JSON.parse(message)
    if (error) waiting.get(id)?.reject(new Error(error.message))
    else waiting.get(id)?.resolve(result)
  })
  const send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1
      waiting.set(id, { resolve, reject })
      root.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method, params }) }).catch(reject)
    })
  /** What a function of the page returns. */
  const evaluate = async (run, given) => {
    const expression = `(${run})(${JSON.stringify(given)})`
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  const KEYS = {
    y: { code: 'KeyY', text: 'y', windowsVirtualKeyCode: 89 },
    Enter: { code: 'Enter', text: '\r', windowsVirtualKeyCode: 13 },
  }
  return {
    evaluate,
    /** Bring it in front of the other tabs. */
    show: () => send('Page.bringToFront'),
    press: async (key) => {
      for (const type of ['keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, key, ...KEYS[key] })
    },
    mouse: (type, { x, y }) =>
      send('Input.dispatchMouseEvent', { type, x, y, clickCount: 1, button: type === 'mouseMoved' ? 'none' : 'left' }),
    /** Wait until something in the page is true, also over a navigation. */
    sees: (what, run, given) => until(what, () => evaluate(run, given).catch(() => false)),
  }
}

/** Such a page of the hub, logged in. */
export async function visitApart(browser, path) {
  const { code } = await api('POST', '/api/login-codes')
  const page = await openApart(browser, `${hub.url}/login?next=${encodeURIComponent(path)}`)
  await page.sees('the login form', () => document.readyState === 'complete' && !!document.querySelector('#code'))
  await page.evaluate((code) => {
    document.querySelector('#code').value = code
    document.querySelector('button').click()
  }, code)
  await page.sees('the page', () => !!document.querySelector('[data-connection=live]'))
  return page
}
