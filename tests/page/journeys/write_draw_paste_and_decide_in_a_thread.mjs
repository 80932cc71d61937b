import { readFileSync } from 'node:fs'

import { api, assert, endOf, hub, journey, startRun, thread } from './rig.mjs'

const picture = [
  ...Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
]

/** Give a picture, or another file, to an element, as the clipboard or the hand does. */
const give = (element, how, name = `${how}.png`, type = 'image/png') =>
  element.evaluate(
    (box, [bytes, how, name, type]) => {
      const given = new DataTransfer()
      given.items.add(new File([Uint8Array.from(bytes)], name, { type }))
      box.dispatchEvent(
        how === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: given, bubbles: true, cancelable: true })
          : new DragEvent('drop', { dataTransfer: given, bubbles: true, cancelable: true }),
      )
    },
    [picture, how, name, type],
  )

await journey(async (visit) => {
  // In this one everybody will have been silent for half a minute when we look.
  const silent = await thread('silent')
  await api('POST', `/api/threads/${silent}/settings`, { timeout_seconds: 30 })
  const waiting = await startRun(`POST ${silent} I wait now\nTOOL msg_wait {"thread_id": "${silent}", "timeout_ms": 120000}\nSAY over`)

  const id = await thread('tools')
  const page = await visit()
  await page.goto(`${hub.url}/threads/${id}`)
  const box = page.getByLabel('Write a message')
  await give(box, 'paste')
  await page.locator('.picture').waitFor()
  await give(page.locator('.composer'), 'drop')
  await page.locator('.picture').nth(1).waitFor()
  await give(page.locator('.composer'), 'drop', 'notes.txt', 'text/plain')
  await page.getByRole('alert').filter({ hasText: 'notes.txt is not a picture' }).waitFor()
  await page
    .locator('.thread', { hasText: 'silent' })
    .getByRole('img', { name: /is waiting for a message$/ })
    .waitFor()
  await box.fill('Two pictures')
  await box.press('Enter')
  const sent = page.locator('.message', { hasText: 'Two pictures' })
  await sent.locator('.images img').nth(1).waitFor()
  assert.equal(
    await sent
      .locator('.images img')
      .first()
      .evaluate((one) => one.decode().then(() => one.naturalWidth)),
    1,
  )

  const run = await startRun(
    `TOOL agent_set_typing {"thread_id": "${id}", "is_typing": true}\nSLEEP 3\nPOST ${id} Seen\nTOOL agent_set_typing {"thread_id": "${id}", "is_typing": false}`,
  )
  await page.getByText(/is typing…/).waitFor()
  await page.locator('.message', { hasText: 'Seen' }).waitFor()
  await page.locator('.typing', { hasText: /^$/ }).waitFor({ state: 'attached' })
  await sent.locator('.reached.acted').waitFor()
  await endOf(run.id)
  await sent.hover()
  await sent.getByRole('button', { name: 'More' }).click()
  await page.locator('.receipt', { hasText: 'handled' }).waitFor()
  await page.keyboard.press('Escape')

  await sent.hover()
  await sent.getByRole('button', { name: 'More' }).click()
  await page.getByText('Edit', { exact: true }).click()
  await page.waitForFunction(() => document.activeElement?.closest('.editing'))
  await page.keyboard.press('End')
  await page.keyboard.type(', and words')
  await page.keyboard.press('Meta+Enter')
  await page.locator('.message', { hasText: 'Two pictures, and words' }).getByText('edited').waitFor()

  await api('POST', `/api/threads/${id}/messages`, { content: '```mermaid\ngraph TD; Plan --> Work --> Report\n```' })
  await page.locator('figure.diagram img').waitFor()
  await page.getByRole('button', { name: 'More' }).first().click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export as Markdown' }).click()])
  const exported = readFileSync(await file.path(), 'utf8')
  for (const words of ['Two pictures', 'Seen', 'graph TD']) assert.ok(exported.includes(words), words)

  await page.getByRole('button', { name: 'More' }).first().click()
  await page.getByRole('menuitem', { name: 'Pin', exact: true }).click()
  const top = page.locator('a.thread').first()
  await top.getByRole('img', { name: 'Pinned' }).waitFor()
  assert.ok((await top.getAttribute('href')).endsWith(id))
  assert.equal((await api('GET', '/api/threads?limit=1')).threads[0].id, id)

  // What was not sent yet is there when one comes back, also to a page that was loaded anew.
  await box.fill('half a thought')
  await box.press('Escape')
  await page.keyboard.press('2')
  await page.waitForURL(/\/inbox/)
  await page.goBack()
  await page.waitForFunction(() => document.querySelector('.composer textarea')?.value === 'half a thought')
  await page.reload()
  await page.waitForFunction(() => document.querySelector('.composer textarea')?.value === 'half a thought')

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await sent.hover()
  await sent.getByRole('button', { name: 'More' }).click()
  await page.getByText('Copy link').click()
  await page.getByText('Copied').waitFor()
  await page.goto(await page.evaluate(() => navigator.clipboard.readText()))
  await page.locator('.message.found', { hasText: 'Two pictures' }).waitFor()

  await page.goto(`${hub.url}/threads/${silent}`)
  await page.getByRole('button', { name: /^Let .* continue$/ }).click()
  await page.locator('.decision', { hasText: 'Answered' }).waitFor()
  await api('POST', `/api/runs/${waiting.id}/cancel`, {})
})
