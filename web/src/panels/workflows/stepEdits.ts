/** What can be done with the steps of a workflow in its editor. */
import type { Ref } from 'vue'

import type { Step } from '@/api/rows'
import { t } from '@/browser/i18n'
import { useProfiles } from '@/stores/profiles'
import type { useWorkflowEditor } from './useWorkflowEditor'
import { getStepKind, ONLY, type StepKind } from './fields'
import { useFlows } from '@/stores/flows'

interface Here {
  chosen: Ref<string>
  tab: Ref<string>
  name: Ref<string>
}

export function useStepEdits({ edit, steps }: ReturnType<typeof useWorkflowEditor>, { chosen, tab, name }: Here) {
  const profiles = useProfiles()
  const flows = useFlows()
  const step = () => steps.value.find((one) => one.id === chosen.value)
  /** What a step of a kind begins with. */
  const begun = (kind: StepKind): Partial<Step> =>
    ({
      agent: { profile: profiles.invitable[0]?.name ?? 'rehearsal', prompt: 'SAY hello' },
      workflow: { workflow: flows.list.find((one) => one.name !== name.value)?.name ?? '' },
      wait: { wait: { seconds: 60 } },
      set: { set: { value: 'true' } },
      gate: { level: { kind: 'confirmed' as const } },
    })[kind]

  function choose(id: string): void {
    chosen.value = id
    tab.value = 'step'
  }
  function rename(to: string): void {
    if (!to || steps.value.some((one) => one.id === to)) return
    edit((text) => text.rename(chosen.value, to), '', to)
  }
  function become(kind: StepKind): void {
    const now = step()
    if (!now) return
    edit((text) => {
      for (const key of ONLY[getStepKind(now)]) text.setStep(chosen.value, key, undefined)
      for (const [key, value] of Object.entries(begun(kind))) text.setStep(chosen.value, key, value)
      return text
    })
  }
  /** What takes a step back is first its own agent's work. */
  function takeBack(): void {
    const { profile, agent_runtime } = step() ?? {}
    const who = profile ? { profile } : agent_runtime ? { agent_runtime } : begun('agent')
    edit((text) => text.addRollback(chosen.value, { ...who, prompt: t('workflows.takeBack') }))
  }
  function add(): void {
    let number = steps.value.length + 1
    while (steps.value.some((one) => one.id === `step-${number}`)) number++
    const [id, before] = [`step-${number}`, step()]
    edit((text) => text.addStep({ id, ...begun('agent'), ...(before ? { dependencies: [before.id] } : {}) }), '', id)
    tab.value = 'step'
  }
  return {
    choose,
    rename,
    become,
    takeBack,
    add,
    join: (from: string, to: string) => edit((text) => text.join(from, to)),
    part: (from: string, to: string) => edit((text) => text.part(from, to)),
    remove: () => edit((text) => text.removeStep(chosen.value), '', ''),
    writeStep: (key: string, value: unknown) => edit((text) => text.setStep(chosen.value, key, value), `${chosen.value} ${key}`),
  }
}
