import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'

import { api, assert, endOf, hub, journey } from './rig.mjs'

await journey(async (visit) => {
  const name = `tree-${Date.now()}`
  const folder = `${hub.data}/${name}`
  const git = (...words) => execFileSync('git', ['-C', folder, '-c', 'user.name=us', '-c', 'user.email=us@localhost', ...words])
  mkdirSync(folder)
  git('init', '-q')
  writeFileSync(`${folder}/list.txt`, 'one\ntwo\n')
  git('add', '.')
  git('commit', '-qm', 'begin')
  await api('PUT', `/api/profiles/${name}`, { driver: 'rehearsal', directory: folder, worktree: true, approvals: 'never' })
  const run = await api('POST', '/api/runs', { profile: name, prompt: 'EDIT list.txt two => <b>three</b>\nWRITE new.txt hello\nSAY done' })
  assert.equal((await endOf(run.id)).status, 'completed')

  const page = await visit({ path: `/runs/${run.id}` })
  await page.getByRole('tab', { name: 'Changes 2' }).click()
  const files = page.locator('.file')
  assert.deepEqual(
    await files
      .locator('summary')
      .allInnerTexts()
      .then((all) => all.map((one) => one.replace(/\s+/g, ' '))),
    ['list.txt +1 −1', 'new.txt new +1 −0'],
  )
  assert.match(await files.first().locator('.new').last().innerText(), /<b>three<\/b>/)
  await page.reload()
  await files.first().locator('.gone', { hasText: 'two' }).waitFor()
})
