/** What a new workflow begins with: two steps, which run without a key if there is an agent that needs none. */
import { t } from '@/browser/i18n'

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
