/** Words about what is wrong with a workflow. */
import { renderSentence, renderWords } from '@/browser/sentences'
import type { Problem } from '@/stores/flows'

export const renderMessage = (one: Problem): string => renderWords(one.sentences?.message ?? one.message)
export const renderRemedy = (one: Problem): string => renderWords(one.sentences?.remedy ?? one.remedy)

/** What is wrong and what to write instead, in one line. */
export const renderProblem = (one: Problem): string =>
  renderSentence(
    { key: 'workflow_problem', params: { problem: one.sentences?.message ?? one.message, remedy: one.sentences?.remedy ?? one.remedy } },
    `${one.message}; ${one.remedy}`,
  )
