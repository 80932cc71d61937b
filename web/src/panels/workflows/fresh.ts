/** What a new workflow begins with: two steps that run without a key. */
import { t } from '@/shell/i18n'

export const fresh = (): string => `name: my-workflow
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
