/** What can be done with a workflow in its editor, besides writing its text. */
import type { Ref } from 'vue'

import type { Step, Trigger } from '@/api/rows'
import { t } from '@/browser/i18n'
import { useProfiles } from '@/stores/profiles'
import type { useWorkflowEditor } from './useWorkflowEditor'
import { getStepKind, ONLY, type StepKind } from './fields'
import { useFlows } from '@/stores/flows'

export const EDITOR_TABS = ['step', 'triggers', 'whole'] as const
export type EditorTab = (typeof EDITOR_TABS)[number]
interface Here {
  chosen: Ref<string>
  tab: Ref<EditorTab>
  name: Ref<string>
}
export type WorkflowEdits = ReturnType<typeof useWorkflowEdits>

export function useWorkflowEdits({ edit, steps }: ReturnType<typeof useWorkflowEditor>, { chosen, tab, name }: Here) {
  const profiles = useProfiles()
  const flows = useFlows()
  const step = () => steps.value.find((one) => one.id === chosen.value)
  /** What a step of a kind begins with. */
  function begin(kind: StepKind): Partial<Step> {
    switch (kind) {
      case 'agent': {
        const profile = profiles.invitable[0] ?? profiles.first
        return { profile: profile?.name ?? '', prompt: profiles.promptToSay(t('workflows.fresh.hello'), profile) }
      }
      case 'workflow':
        return { workflow: flows.list.find((one) => one.name !== name.value)?.name ?? '' }
      case 'wait':
        return { wait: { seconds: 60 } }
      case 'set':
        return { set: { value: 'true' } }
      case 'gate':
        return { level: { kind: 'confirmed' } }
    }
  }

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
      for (const [key, value] of Object.entries(begin(kind))) text.setStep(chosen.value, key, value)
      return text
    })
  }
  /** What takes a step back is first its own agent's work. */
  function addRollback(): void {
    const { profile, agent_runtime } = step() ?? {}
    const who = profile ? { profile } : agent_runtime ? { agent_runtime } : begin('agent')
    edit((text) => text.addRollback(chosen.value, { ...who, prompt: t('workflows.takeBack') }))
  }
  function add(): void {
    let number = steps.value.length + 1
    while (steps.value.some((one) => one.id === `step-${number}`)) number++
    const [id, before] = [`step-${number}`, step()]
    edit((text) => text.addStep({ id, ...begin('agent'), ...(before ? { dependencies: [before.id] } : {}) }), '', id)
    tab.value = 'step'
  }
  return {
    choose,
    rename,
    become,
    addRollback,
    add,
    join: (from: string, to: string) => edit((text) => text.join(from, to)),
    part: (from: string, to: string) => edit((text) => text.part(from, to)),
    remove: () => edit((text) => text.removeStep(chosen.value), '', ''),
    writeStep: (key: string, value: unknown) => edit((text) => text.setStep(chosen.value, key, value), `${chosen.value} ${key}`),
    writeWhen: (from: string, when: string | undefined) =>
      edit((text) => text.setWhen(from, chosen.value, when), `${chosen.value} after ${from}`),
    writeRollback: (at: number, key: string, value: unknown) =>
      edit((text) => text.setRollback(chosen.value, at, key, value), `${chosen.value} back ${at} ${key}`),
    removeRollback: (at: number) => edit((text) => text.removeRollback(chosen.value, at)),
    writeTrigger: (at: number, key: string, value: unknown) => edit((text) => text.setTrigger(at, key, value), `trigger ${at} ${key}`),
    replaceTrigger: (at: number, trigger: Trigger | null) => edit((text) => text.replaceTrigger(at, trigger)),
    addTrigger: (trigger: Trigger) => edit((text) => text.addTrigger(trigger)),
    writeWhole: (key: string, value: unknown) => edit((text) => text.setWhole(key, value), `whole ${key}`),
  }
}
