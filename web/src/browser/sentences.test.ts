import { expect, test } from 'vitest'

import { renderSentence, setCatalogue } from './sentences'

test('a sentence is worded by its key, with letters and digits apart from Chinese characters', () => {
  setCatalogue(
    { 'too_long.summary': '摘要少于{limit}个字符。', bad_risk: '风险请写{risks}之一。', person: '有人', name_taken: '「{name}」已被占用' },
    '、',
    '；',
  )
  expect(renderSentence({ key: 'too_long.summary', params: { limit: 500 } }, '')).toBe('摘要少于 500 个字符。')
  expect(renderSentence({ key: 'bad_risk', params: { risks: ['low', 'high'] } }, '')).toBe('风险请写 low、high 之一。')
  expect(renderSentence({ key: 'name_taken', params: { name: 'ask' } }, '')).toBe('「ask」已被占用')
  expect(renderSentence({ key: 'bad_risk', params: { risks: [{ key: 'person' }, 'high'] } }, '')).toBe('风险请写有人；high 之一。')
})

test('a sentence with a key that the page does not know stays English', () => {
  setCatalogue({}, '、', '；')
  expect(renderSentence({ key: 'new_code' }, 'Do this instead.')).toBe('Do this instead.')
})

test('no full stop follows a question', () => {
  setCatalogue({ bad_body: '内容不对：{problem}。', 'field.near': '是不是指「{near}」？' }, '、', '；')
  expect(renderSentence({ key: 'bad_body', params: { problem: { key: 'field.near', params: { near: 'url' } } } }, '')).toBe(
    '内容不对：是不是指「url」？',
  )
  expect(renderSentence({ key: 'bad_body', params: { problem: '3' } }, '')).toBe('内容不对：3。')
})
