import { WAIT_S, api, assert, hub, journey } from './rig.mjs'

/** A browser that hears the same phrase each time: there is no service of speech on a machine for tests. */
function hearing() {
  window.SpeechRecognition = window.webkitSpeechRecognition = class {
    start() {
      queueMicrotask(() => {
        this.onresult({ results: [[{ transcript: ` spoken in ${this.lang} ` }]] })
        this.onend()
      })
    }
    stop() {}
  }
}
function deaf() {
  for (const name of ['SpeechRecognition', 'webkitSpeechRecognition']) Object.defineProperty(window, name, { value: undefined })
}

await journey(async (visit) => {
  const page = await visit()
  await page.addInitScript(hearing)
  await page.goto(`${hub.url}/people`)
  const mine = await page.evaluate(async () =>
    (
      await fetch('/api/input/receivers', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-greenroom-key': localStorage.getItem('greenroom.key') },
        body: '{"name": "my desk"}',
      })
    ).json(),
  )
  const theirs = await api('POST', '/api/input/receivers', { name: 'another machine' })
  await page.getByRole('button', { name: 'Type on a device' }).click()
  await page.getByRole('combobox', { name: 'Device', exact: true }).selectOption({ label: 'my desk' })
  await page.getByLabel('Text', { exact: true }).fill('written and')
  await page.getByRole('button', { name: 'Dictate' }).click()
  await page.getByRole('button', { name: 'Type', exact: true }).click()
  await page.getByText('Typed on 1 device').waitFor()
  const typed = await page.evaluate(
    async ([id, waitS]) =>
      (
        await fetch(`/api/input/receivers/${id}?for_s=${waitS}`, { headers: { 'x-greenroom-key': localStorage.getItem('greenroom.key') } })
      ).json(),
    [mine.id, WAIT_S],
  )
  assert.deepEqual(typed.texts, ['written and spoken in en'])
  await page.getByRole('combobox', { name: 'Device', exact: true }).selectOption({ label: 'Device with a code' })
  await page.getByLabel('Code', { exact: true }).fill(theirs.code)
  await page.getByLabel('Text', { exact: true }).fill('over there')
  await page.getByLabel('Text', { exact: true }).press('Meta+Enter')
  assert.deepEqual((await api('GET', `/api/input/receivers/${theirs.id}?for_s=${WAIT_S}`)).texts, ['over there'])
  await api('DELETE', `/api/input/receivers/${theirs.id}`)

  const silent = await visit()
  await silent.addInitScript(deaf)
  await silent.goto(`${hub.url}/people`)
  await silent.getByRole('button', { name: 'Type on a device' }).click()
  await silent.getByRole('button', { name: 'Type', exact: true }).waitFor()
  assert.equal(await silent.getByRole('button', { name: 'Dictate' }).count(), 0, 'nothing is offered that cannot be done')
})
