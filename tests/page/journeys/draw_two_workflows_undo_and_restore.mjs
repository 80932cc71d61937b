import { api, assert, hub, journey, pause, PHONE, until } from './rig.mjs'

const mark = Date.now()
const [first, second] = [`first-${mark}`, `second-${mark}`]
const shown = (name) => api('GET', `/api/workflows/${name}`)

await journey(async (visit, _, pages) => {
  const page = await visit()
  const textIn = (page) => page.getByRole('textbox', { name: /Workflow as YAML|工作流（YAML）/ })
  const holds = ([what, is]) => document.querySelector('.code textarea')?.value.includes(what) === is
  const says = (page, what) => page.waitForFunction(holds, [what, true])
  const lacks = (page, what) => page.waitForFunction(holds, [what, false])
  const well = (page) => page.locator('.problems', { hasText: 'No problems' }).waitFor()
  const dialog = page.getByRole('dialog')
  const undo = page.getByRole('button', { name: 'Undo the last change' })
  const save = (page) => page.locator('header.bar').getByRole('button', { name: 'Save', exact: true }).click()

  // Two new workflows: each is asked for its name, and the second cannot take the first one's.
  for (const [name, taken] of [
    [first, null],
    [second, first],
  ]) {
    await page.goto(`${hub.url}/workflows`)
    await page.getByRole('link', { name: 'New workflow' }).first().click()
    await well(page)
    await save(page)
    if (taken) {
      await dialog.getByRole('textbox').fill(taken)
      await dialog.getByRole('alert').filter({ hasText: taken }).waitFor()
      assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'a name that is taken')
    }
    await dialog.getByRole('textbox').fill(name)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name }).waitFor()
  }
  assert.deepEqual([(await shown(first)).workflow.version, (await shown(second)).workflow.version], [1, 1], 'both are there')

  // One step at a time is undone: what was typed in one go, a field, a new step; and redone.
  const text = textIn(page)
  const written = await text.inputValue()
  await text.focus()
  await text.press('Control+End')
  await text.pressSequentially('# one')
  await pause(1100)
  await text.pressSequentially(' two')
  await text.press('Control+z')
  assert.equal(await text.inputValue(), `${written}# one`)
  await text.press('Control+Shift+z')
  assert.equal(await text.inputValue(), `${written}# one two`)
  await well(page)
  await page.getByRole('button', { name: 'Step', exact: true }).click()
  await says(page, 'step-3')
  const prompt = page.getByLabel('Prompt', { exact: true })
  await prompt.fill('SAY something else')
  await says(page, 'SAY something else')
  await prompt.press('Control+z')
  await lacks(page, 'SAY something else')
  await page.waitForFunction(() => [...document.querySelectorAll('.step-form textarea')].every((one) => one.value !== 'SAY something else'))
  await undo.click()
  await lacks(page, 'step-3')
  await says(page, '# one two')
  for (let left = 2; left; left--) await undo.click()
  assert.equal(await text.inputValue(), written)
  assert.ok(await undo.isDisabled(), 'nothing is left to be undone')
  await page.getByRole('button', { name: 'Redo' }).click()
  await says(page, '# one')

  // Two tabs: who has changed nothing sees the newest; who has is told, and overwrites nobody by accident.
  const other = await visit({ path: `/workflows/edit/${second}` })
  await says(other, `name: ${second}`)
  await save(page)
  await says(other, '# one')
  await textIn(other).press('Control+End')
  await textIn(other).pressSequentially(' theirs')
  await text.press('Control+End')
  await text.pressSequentially(' mine')
  await well(page)
  await save(page)
  await until('version 3', async () => (await shown(second)).workflow.version === 3)
  await other.getByRole('alert').filter({ hasText: 'Version 3 was saved' }).waitFor()
  await save(other)
  await other.locator('.toast', { hasText: 'was changed in the meantime' }).waitFor()
  assert.ok((await shown(second)).text.endsWith(' mine\n') || (await shown(second)).text.endsWith(' mine'), 'it stands as it was saved')
  await other.getByRole('button', { name: 'Compare' }).click()
  await other.locator('.diff .gone', { hasText: 'mine' }).waitFor()
  await other.locator('.diff .new', { hasText: 'theirs' }).waitFor()
  if (process.env.SHOT) await other.screenshot({ path: `${process.env.SHOT}-compare.png` })
  await other.keyboard.press('Escape')
  await other.getByRole('button', { name: 'Save mine as the newest' }).click()
  await until('version 4', async () => (await shown(second)).workflow.version === 4)
  await says(page, 'theirs')

  // Back to the first version, as a new one; and back again.
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Versions' }).click()
  const versions = page.getByRole('list', { name: 'Versions' })
  await versions.getByRole('button', { name: 'Version 1' }).click()
  await page.locator('.diff .new', { hasText: '# one theirs' }).waitFor()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await until('version 5', async () => (await shown(second)).workflow.version === 5)
  assert.equal((await shown(second)).text, written)
  await lacks(page, '# one')
  await undo.click()
  await says(page, '# one theirs')
  await page.getByRole('button', { name: 'Redo' }).click()
  await lacks(page, '# one')

  // What is deleted can be had back, at once or later.
  for (const isAtOnce of [true, false]) {
    await page.goto(`${hub.url}/workflows/edit/${second}`)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete workflow' }).click()
    await page.waitForURL('**/workflows')
    if (isAtOnce) await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    else {
      await page.goto(`${hub.url}/workflows/edit/${second}`)
      await page.getByRole('button', { name: /Restore version/ }).click()
      await says(page, `name: ${second}`)
    }
    await until('it is back', async () => (await shown(second).catch(() => null)) !== null)
  }

  const phone = await visit({ size: PHONE, language: 'zh-CN', path: `/workflows/edit/${second}?show=versions` })
  await phone.getByRole('list', { name: '版本' }).waitFor()
  await phone.locator('.diff').waitFor()
  if (process.env.SHOT) await phone.screenshot({ path: `${process.env.SHOT}-versions-phone.png` })
  await phone.goto(`${hub.url}/workflows/edit/${second}`)
  await phone.locator('.vue-flow__node').first().waitFor()
  const boxes = await phone.locator('header.bar button').evaluateAll((list) => list.map((one) => one.getBoundingClientRect().toJSON()))
  assert.ok(
    boxes.every(({ right, width }) => right <= PHONE.width && width >= 28),
    'every button of the bar is on the screen, and whole',
  )
  if (process.env.SHOT) await phone.screenshot({ path: `${process.env.SHOT}-editor-phone.png` })
  if (process.env.SHOT) await page.screenshot({ path: `${process.env.SHOT}-editor.png` })

  // What the hub refused on purpose, the console tells of, too.
  const isMeant = (complaint) => /status of (404|409)/.test(complaint) && complaint.includes(`/api/workflows/${second}`)
  for (const { complaints } of pages) complaints.splice(0, complaints.length, ...complaints.filter((one) => !isMeant(one)))
})
