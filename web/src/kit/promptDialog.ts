/** A short question of the page itself: a name to give, or whether something that cannot be undone is meant. */
import { shallowRef } from 'vue'

export interface PromptQuestion {
  title: string
  text?: string
  /** With a value a line can be written; without one it is only yes or no. */
  value?: string
  /** What may be meant, to choose from. */
  offers?: string[]
  /** What is wrong with what is written; an empty text when nothing is. */
  wrong?: (given: string) => string
  yes: string
  danger?: boolean
  answer: (given: string | null) => void
}

export const question = shallowRef<PromptQuestion | null>(null)

/** What was written (or '' for a plain yes); null when it was dropped. */
export const openPrompt = (asked: Omit<PromptQuestion, 'answer'>): Promise<string | null> =>
  new Promise((resolve) => {
    question.value?.answer(null)
    question.value = {
      ...asked,
      answer: (given) => {
        question.value = null
        resolve(given)
      },
    }
  })
