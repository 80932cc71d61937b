import { expect, test } from 'vitest'

import { fillPrompt } from './samplePrompts'

test('each word in braces becomes its value, and a word without one stays', () => {
  expect(fillPrompt('POST {thread_id} {text} {other}', { thread_id: 'thr_1', text: 'hello' })).toBe('POST thr_1 hello {other}')
})

test('a value is put in as it is, with braces and dollar signs of its own', () => {
  expect(fillPrompt('SAY {text}', { text: "$& {{ inputs.topic }} {text} $'" })).toBe("SAY $& {{ inputs.topic }} {text} $'")
})
