import { api, assert, hub, journey, press } from './rig.mjs'

const form = {
  type: 'object',
  properties: {
    colour: { enum: ['green', 'blue'], title: 'Colour' },
    size: { type: 'integer', title: 'Size' },
    sure: { type: 'boolean', title: 'Sure' },
    more: { type: 'object', title: 'More' },
  },
  required: ['colour', 'size'],
}
const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

await journey(async (visit) => {
  const ask = await api('POST', '/api/asks', { kind: 'question', title: 'What shall it look like?', form })
  const page = await visit()
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await page.getByLabel('Colour').selectOption('green')
  await page.getByLabel('Size').fill('42')
  await page.getByLabel('Sure').check()
  await page.getByLabel('More').fill('{ "deep": [1] }')
  await page.getByLabel('Attach files').setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('the notes') }])
  await page.locator('.files', { hasText: 'notes.txt' }).waitFor()
  await page.locator('form.answer').evaluate(
    (box, bytes) => {
      const given = new DataTransfer()
      given.items.add(new File([Uint8Array.from(bytes)], 'pasted.png', { type: 'image/png' }))
      box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: given, bubbles: true, cancelable: true }))
    },
    [...picture],
  )
  await page.locator('.files', { hasText: 'pasted.png' }).waitFor()
  await page.getByRole('button', { name: 'Record your voice' }).click()
  await page.getByRole('button', { name: 'Stop recording' }).click()
  await page.locator('.files', { hasText: 'voice.' }).waitFor()
  await press(page.locator('[data-do=answer]'))
  await page.locator('.given', { hasText: 'Answered' }).waitFor()
  const { answer } = await api('GET', `/api/asks/${ask.id}`)
  assert.deepEqual(answer.form, { colour: 'green', size: 42, sure: true, more: { deep: [1] } })
  assert.deepEqual(
    answer.contents.map((one) => one.type),
    ['resource', 'image', 'audio'],
  )
  const bytes = async (content) =>
    Buffer.from(
      await (
        await fetch(`${hub.url}/api/asks/${ask.id}/files/${content.file}`, { headers: { authorization: `Bearer ${hub.token}` } })
      ).arrayBuffer(),
    )
  assert.equal(String(await bytes(answer.contents[0])), 'the notes')
  assert.deepEqual(await bytes(answer.contents[1]), picture)
  assert.equal((await bytes(answer.contents[2])).subarray(0, 4).toString('hex'), '1a45dfa3', 'a voice as WebM')
})
