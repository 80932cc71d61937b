import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

import { api, assert, endOf, hub, journey, PHONE, until } from './rig.mjs'

await journey(async (visit) => {
  const folder = `${hub.data}/shop-${Date.now()}`
  const git = (...words) => execFileSync('git', ['-C', folder, '-c', 'user.name=us', '-c', 'user.email=us@localhost', ...words])
  mkdirSync(folder)
  git('init', '-q', '-b', 'trunk')
  git('commit', '-q', '--allow-empty', '-m', 'begin')
  await api('PUT', '/api/profiles/other', { driver: 'rehearsal', display_name: 'Other One' })
  const runOf = (prompt) =>
    until(prompt, async () => (await api('GET', '/api/runs?limit=20')).find((one) => one.prompt === prompt && one.ended_at))

  // With the keyboard alone: who, where, with what and how much.
  const page = await visit()
  const box = page.getByLabel('Start an agent')
  await box.fill('SAY from home')
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const open = async (name) => {
    await page.waitForFunction(() => !document.querySelector('.q-menu')) // one that closes takes the focus back to its button
    await page.getByRole('button', { name }).focus()
    await press('Enter')
    await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]'))
  }
  await open(/^Agent:/)
  await page.getByRole('menuitemradio', { name: /Other One/ }).focus()
  await press('Enter')
  await open(/^Folder:/)
  await page.keyboard.type(folder)
  await box.click() // what was typed counts without Enter too, or the agent would work in another folder
  await page.getByRole('button', { name: `Folder: ${folder.split('/').at(-1)}` }).waitFor()
  await open(/^Model:/)
  await page.keyboard.type('hamlet')
  await press('Enter')
  await open(/^Budget:/)
  await page.keyboard.type('2.5')
  await press('Enter')
  await page.getByRole('button', { name: 'Budget: $2.50' }).waitFor()
  await page.waitForFunction(() => !document.querySelector('.q-menu'))
  await box.focus()
  await press('Enter')
  const run = await runOf('SAY from home')
  assert.deepEqual([run.profile, run.directory, run.branch, run.model], ['other', folder, 'trunk', 'hamlet'])
  assert.equal((await api('GET', `/api/runs/${run.id}/tree`)).tree.limits.max_cost_usd, 2.5)

  // On a phone the folder is among the recent ones, and a worktree has a branch of its own, which the facts name.
  const phone = await visit({ size: PHONE })
  const choose = async (menu, item) => {
    await phone.getByRole('button', { name: menu }).tap()
    await phone.getByRole('menuitemradio', { name: item }).tap()
    await phone.getByRole('button', { name: item }).waitFor()
    await phone.waitForFunction(() => !document.querySelector('.q-menu'))
  }
  await phone.getByLabel('Start an agent').fill('SAY in a tree')
  await choose(/^Agent:/, /Other One/)
  await phone.getByRole('button', { name: /^Folder:/ }).tap()
  await phone.getByLabel('In a git worktree of its own, on a new branch').check()
  await phone.keyboard.press('Escape')
  await phone.waitForFunction(() => !document.querySelector('.q-menu'))
  await choose(/^Folder:/, new RegExp(folder.split('/').at(-1)))
  await phone.getByRole('button', { name: 'Start', exact: true }).tap()
  const own = await runOf('SAY in a tree')
  assert.deepEqual([own.repository, own.branch], [folder, `greenroom/${own.agent_id}`])
  await endOf(own.id)
  await phone.goto(`${hub.url}/runs/${own.id}?tab=facts`)
  await phone.locator('dl.list').getByText(own.branch, { exact: true }).waitFor()
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(wide <= 0, `the page is ${wide} px wider than the phone`)
})
