/** Numbers that JavaScript would round stay as they are written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { load } from './source.mjs'

const { ExactNumber, parseExact, stringifyExact } = await load('api/exactJson.ts')

test('what is read is written again as it was', () => {
  for (const text of [
    '{"n":9007199254740993}',
    '[-123456789012345678901234567890,1]',
    '{"a":{"b":[9007199254740992,"9007199254740993"]}}',
    '{"text":"he said \\"9007199254740993\\" and: 9007199254740993,"}',
    '9007199254740993',
    '{"0.30000000000000004":0.30000000000000004}',
  ])
    assert.equal(stringifyExact(parseExact(text)), text)
})

test('numbers that are not rounded are numbers', () => {
  const read = parseExact('{"a":9007199254740991,"b":0.30000000000000004,"c":1e+22,"d":9007199254740993}')
  assert.deepEqual([read.a, read.b, read.c], [9007199254740991, 0.30000000000000004, 1e22])
  assert.ok(read.d instanceof ExactNumber)
  assert.equal(String(read.d), '9007199254740993')
})

test('what is no JSON is refused as before', () => {
  for (const text of ['', '{', '[9007199254740993', '{"a":9007199254740993 1}', '01234567890123456']) assert.throws(() => parseExact(text))
})
