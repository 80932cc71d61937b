// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest'

import { readDraft, saveDraft } from './drafts'

beforeEach(() => localStorage.clear())

test('each workflow has a draft of its own', () => {
  saveDraft('one', { text: 'a', version: 3 })
  saveDraft('', { text: 'new', version: 0 })
  expect(readDraft('one', 9)).toEqual({ text: 'a', version: 3 })
  expect(readDraft('', 9)).toEqual({ text: 'new', version: 0 })
  saveDraft('one', null)
  expect(readDraft('one', 9)).toBeNull()
})

test('drafts of an older page are taken over, as of the version that is there now', () => {
  localStorage.setItem('greenroom.workflow.drafts', JSON.stringify({ one: 'a', two: 'b' }))
  expect(readDraft('one', 4)).toEqual({ text: 'a', version: 4 })
  expect(readDraft('two', 5)).toEqual({ text: 'b', version: 5 })
  expect(localStorage.getItem('greenroom.workflow.drafts')).toBeNull()
})

test('what is no draft is forgotten', () => {
  localStorage.setItem('greenroom.workflow.draft.one', 'no JSON')
  expect(readDraft('one', 1)).toBeNull()
  expect(localStorage.getItem('greenroom.workflow.draft.one')).toBeNull()
})
