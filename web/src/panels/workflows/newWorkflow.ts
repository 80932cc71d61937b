/** What a new workflow begins with: two steps, which run without a key if there is an agent that needs none. */
import { t } from '@/browser/i18n'

const NAME = 'my-workflow'
/** Whether a name is one that we have given, and nobody has thought of. */
export const isDefaultName = (name: string): boolean => /^my-workflow(-\d+)?$/.test(name)
/** A name that no workflow has yet. */
export function chooseFreeName(taken: { name: string }[]): string {
  const names = new Set(taken.map((one) => one.name))
  let name = NAME
  for (let number = 2; names.has(name); number++) name = `${NAME}-${number}`
  return name
}

/** `prompt` has an agent of the profile say a text. */
export const buildNewWorkflow = (name: string, profile: string, prompt: (text: string) => string): string => `name: ${name}
description: ${t('workflows.fresh.about')}

inputs:
  topic:
    type: string
    default: tests

steps:
  - id: look
    name: ${t('workflows.fresh.look')}
    profile: ${profile}
    prompt: ${JSON.stringify(prompt(`${t('workflows.fresh.looked')} {{ inputs.topic }}`))}

  - id: report
    name: ${t('workflows.fresh.report')}
    profile: ${profile}
    dependencies: [look]
    prompt: ${JSON.stringify(prompt(`${t('workflows.fresh.reported')} {{ steps.look.output }}`))}
`
