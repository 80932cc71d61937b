import { expect, test } from 'vitest'

import { splitYamlLine } from './yamlPieces'

const kindsOf = (line: string) => splitYamlLine(line).map(({ text, kind }) => [text, kind])

test('the pieces of a line are the line', () => {
  for (const line of ['', '  - id: look # first', 'a: "b: c" # d', 'prompt: {{ inputs.topic }} [1, true]', '   ', "it's"])
    expect(
      splitYamlLine(line)
        .map((one) => one.text)
        .join(''),
    ).toBe(line)
})

test('a key, a quoted text, a place and a note have colours of their own', () => {
  expect(kindsOf('  - id: "a # b" # note')).toEqual([
    ['  - ', 'sign'],
    ['id', 'key'],
    [':', 'sign'],
    [' ', ''],
    ['"a # b"', 'quoted'],
    [' ', ''],
    ['# note', 'note'],
  ])
  expect(kindsOf('{{ steps.look.output }}')).toEqual([['{{ steps.look.output }}', 'place']])
})

test('a value is a value only by itself', () => {
  expect(kindsOf('n: 12')).toContainEqual(['12', 'value'])
  expect(kindsOf('n: a12')).not.toContainEqual(['12', 'value'])
})
