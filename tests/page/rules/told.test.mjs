/** What the hub says in Chinese, put together from a sentence and its values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { load } from './source.mjs'

const { setSentences, translateHubText } = await load('shell/hubTranslation.ts')

test('letters and digits stand apart from Chinese characters, and Chinese values do not', () => {
  setSentences({
    'at work {0}, but {1}': '已工作{0}，但{1}',
    '{0} has allowed it for {1}: {2}.': '{0} 已对{1}允许：{2}。',
    'this run': '此运行',
  })
  assert.equal(translateHubText('at work 3 min, but slow'), '已工作 3 min，但 slow')
  assert.equal(translateHubText('Ann has allowed it for this run: make d.'), 'Ann 已对此运行允许：make d。')
  assert.equal(translateHubText('Ann has allowed it for builder2: make d.'), 'Ann 已对 builder2 允许：make d。')
})
