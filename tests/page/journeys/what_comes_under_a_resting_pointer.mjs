/** What comes up under a pointer that rests was not meant by its next press, however late that is; and a press that is not taken
 *  says so beside what was pressed. */
import {
  KEY_MS,
  assert,
  clockOf,
  denyAll,
  hub,
  journey,
  middleOf,
  moveTo,
  noteInput,
  notedOf,
  pause,
  PHONE,
  raise,
  reach,
  settledHere,
  stateOf,
  tap,
  until,
  within,
} from './rig.mjs'

const LONG_MS = 1_500
const statesOf = (asks) => Promise.all(asks.map((ask) => stateOf(ask)))

await journey(async (visit) => {
  await denyAll()
  const page = await visit()
  await noteInput(page)
  await page.goto(hub.url)
  const cdp = await page.context().newCDPSession(page)
  /** Press the mouse where it is, without any movement before. */
  const pressHere = async ({ x, y }, times = 1) => {
    const left = { x, y, button: 'left', clickCount: times }
    for (const type of ['mousePressed', 'mouseReleased']) await cdp.send('Input.dispatchMouseEvent', { type, ...left })
  }
  const note = page.locator('[data-note]')
  const isOpen = async (asks, why) =>
    assert.ok(
      (await statesOf(asks)).every((state) => state === 'open'),
      why,
    )
  const under = (point) => page.evaluate(({ x, y }) => document.elementFromPoint(x, y)?.closest('[data-do]')?.dataset.do ?? '', point)

  // "Show more" makes rows where it was itself.
  const asks = []
  for (let n = 0; n < 14; n++) asks.push(await raise(`row ${n} of many`))
  const more = page.locator('.all')
  await more.scrollIntoViewIfNeeded()
  const x = (await middleOf(page.locator('.need [data-do=approve]').first())).x
  const { y } = await middleOf(more)
  await page.mouse.move(x, y)
  await pressHere({ x, y })
  await page.locator('.need').nth(13).waitFor()
  // The button that has come nearest is brought exactly there: by what else moves a page, such as a picture or a font.
  const nearest = await page.evaluate((y) => {
    const places = [...document.querySelectorAll('.need [data-do=approve]')].map((one) => one.getBoundingClientRect())
    const middles = places.map((at) => (at.top + at.bottom) / 2)
    const [best] = middles.sort((a, b) => Math.abs(a - y) - Math.abs(b - y))
    document.querySelector('.home').style.marginTop = `${y - best}px`
    return best
  }, y)
  assert.ok(Math.abs(nearest - y) < 200)
  await until('a button under the pointer', async () => (await under({ x, y })) === 'approve')
  await settledHere(page)
  for (const wait of [0, LONG_MS, LONG_MS]) {
    await pause(wait)
    await until('the reason', async () => {
      await settledHere(page)
      await pressHere({ x, y })
      return (await note.textContent()) === 'Not taken: this came up under your pointer. Move the pointer, then press again.'
    })
  }
  await page.mouse.move(x + 2, y + 2)
  await settledHere(page)
  await pressHere({ x: x + 2, y: y + 2 }, 2)
  await pause(300)
  await page.keyboard.press('Enter')
  await pause(300)
  await isOpen(asks, 'a hand that trembles has not moved, and the mouse leaves no focus for a stray key')
  assert.equal(await note.locator('xpath=..').getAttribute('role'), 'status', 'a screen reader reads it too')

  // Once the pointer has moved, the next press is meant.
  await until('the press that was meant', async () => {
    await moveTo(page, { x: x + 40, y })
    await moveTo(page, { x, y })
    await settledHere(page)
    await pressHere({ x, y })
    await pause(300)
    return (await statesOf(asks)).filter((state) => state === 'answered').length === 1
  })
  await note.waitFor({ state: 'detached' })
  await denyAll()

  // A page that is loaded under a pointer, as by a reload, has not been pointed at.
  const loaded = await raise('loaded under the pointer')
  const button = page.locator('[data-do=approve]')
  await page.goto(`${hub.url}/inbox/${loaded.id}`)
  await reach(button)
  const place = await middleOf(button)
  await page.mouse.move(place.x, place.y)
  await page.reload()
  await settledHere(page)
  if (!(await page.evaluate(() => noted.pointermove))) {
    await pressHere(place)
    await pause(300)
    await isOpen([loaded], 'nobody has pointed at it')
  }

  // A key that comes too early says so as well.
  await within(600, async () => {
    await page.reload()
    await button.waitFor()
    const from = await clockOf(page)
    await page.keyboard.press('y')
    const took = (await notedOf(page)).keydown.at - from
    await pause(KEY_MS)
    const state = await stateOf(loaded)
    return {
      took,
      check: async () => {
        assert.equal(state, 'open')
        await note.getByText('Not taken: this just changed. Check it, then press again.').waitFor()
      },
    }
  })

  // The wheel still turns: what is under the pointer is not what it was when the finger began to press.
  await denyAll()
  const list = []
  for (let n = 0; n < 9; n++) list.push(await raise(`scrolled ${n}`))
  await page.setViewportSize({ width: 1360, height: 480 })
  await page.goto(hub.url)
  await page.locator('.need').nth(8).waitFor()
  await settledHere(page)
  const first = page.locator('.need [data-do=approve]').first()
  await reach(first)
  const at = await middleOf(first)
  const { height, y: top } = await page.locator('.need').first().boundingBox()
  await moveTo(page, at)
  await within(250, async () => {
    const before = await statesOf(list)
    await page.mouse.wheel(0, height)
    await page.waitForFunction((top) => Math.abs(document.querySelector('.need').getBoundingClientRect().top - top) > 10, top)
    const from = await clockOf(page)
    await pressHere(at)
    const took = (await notedOf(page)).pointerdown.at - from
    await pause(300)
    const after = await statesOf(list)
    const check = () => assert.deepEqual(after, before, `${took} ms after the wheel`)
    await page.mouse.wheel(0, -height)
    await settledHere(page)
    return { took, check }
  })
  await denyAll()

  // A finger has no place where it rests: it presses once more, and not at once.
  const onPhone = []
  for (let n = 0; n < 14; n++) onPhone.push(await raise(`on the phone ${n}`))
  const phone = await visit({ size: PHONE })
  await phone.locator('.all').scrollIntoViewIfNeeded()
  await phone.locator('.all').evaluate((element) => (element.style.paddingBlock = '20px'))
  const finger = { x: (await middleOf(phone.locator('.need [data-do=approve]').first())).x, y: (await middleOf(phone.locator('.all'))).y }
  // What the first tap opens moves under the finger as soon as it is on the screen.
  const moved = phone.evaluate(async (y) => {
    const frame = () => new Promise(requestAnimationFrame)
    const row = () => document.querySelectorAll('.need')[8]?.querySelector('[data-do=approve]')
    while (!row()) await frame()
    for (let n = 0; n < 2; n++) await frame()
    const { top, bottom } = row().getBoundingClientRect()
    document.querySelector('.home').style.marginTop = `${y - (top + bottom) / 2}px`
  }, finger.y)
  await phone.touchscreen.tap(finger.x, finger.y)
  await moved
  const row = phone.locator('.need').nth(8).locator('[data-do=approve]')
  await settledHere(phone)
  const now = await middleOf(row)
  await phone.touchscreen.tap(finger.x, now.y)
  await phone.locator('[data-note]', { hasText: 'Not taken: this came up under your finger. Press again.' }).waitFor()
  await isOpen(onPhone, 'the first tap was for something else')
  await tap(row)
  await until('the second tap', async () => (await statesOf(onPhone)).filter((state) => state === 'answered').length === 1)
  await denyAll()
})
