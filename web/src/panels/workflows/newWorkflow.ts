/** What a new workflow begins with: two steps that run without a key. */
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

export const buildNewWorkflow = (name: string): string => `name: ${name}
description: ${t('workflows.fresh.about')}

inputs:
  topic:
    type: string
    default: tests

steps:
  - id: look
    name: ${t('workflows.fresh.look')}
    profile: rehearsal
    prompt: "SAY ${t('workflows.fresh.looked')} {{ inputs.topic }}"

  - id: report
    name: ${t('workflows.fresh.report')}
    profile: rehearsal
    dependencies: [look]
    prompt: "SAY ${t('workflows.fresh.reported')} {{ steps.look.output }}"
`
