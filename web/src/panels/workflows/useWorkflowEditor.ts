/** A workflow's text while it is edited: checked by the hub, changed by its structure, with every step to be undone. */
import { computed, onScopeDispose, provide, ref, watch, type Ref } from 'vue'

import { ApiError } from '@/api/http'
import type { Step, WorkflowDefinition } from '@/api/rows'
import { UNDO_COUNT } from '@/kit/form'
import { t } from '@/browser/i18n'
import { showError } from '@/stores/toasts'
import { checkWorkflow, type CheckResult, type Picture } from '@/stores/flows'
import { useHistory } from './history'
import { WorkflowDocument } from './workflowDocument'

const CHECK_MS = 250

export function useWorkflowEditor(chosen: Ref<string>) {
  const history = useHistory()
  const found = ref<CheckResult | null>(null)
  const picture = ref<Picture | null>(null)
  const definition = ref<WorkflowDefinition | null>(null)
  const steps = computed<Step[]>(() => definition.value?.steps ?? [])
  const undone = ref(0)
  provide(UNDO_COUNT, undone)

  function write(text: string, place = '', after = chosen.value): void {
    history.write(text, { before: chosen.value, after }, place)
    chosen.value = after
  }
  const text = computed({ get: () => history.now.value.text, set: (typed) => write(typed, 'yaml') })

  let turn = 0
  let timer = 0
  watch(text, () => {
    clearTimeout(timer)
    timer = window.setTimeout(() => void look(++turn), CHECK_MS)
  })
  onScopeDispose(() => clearTimeout(timer))
  async function look(mine: number): Promise<void> {
    try {
      const made = await checkWorkflow(text.value)
      if (mine !== turn) return
      found.value = made
      if (!made.picture || !made.definition) return
      picture.value = made.picture
      definition.value = made.definition
    } catch (error) {
      showError(error)
    }
  }

  /** Change the text by its structure. `place` is the field that is typed in, `after` the step that is chosen then. */
  function edit(work: (writing: WorkflowDocument) => WorkflowDocument, place = '', after = chosen.value): void {
    if (!definition.value) return
    const writing = new WorkflowDocument(text.value, definition.value)
    if (writing.isBroken) showError(new ApiError(0, 'broken', t('workflows.broken')))
    else write(work(writing).text, place, after)
  }
  function step(move: (chosen: string) => boolean): void {
    const before = text.value
    if (!move(chosen.value)) return
    chosen.value = history.now.value.chosen
    undone.value++
    showChange(before, text.value)
  }
  return {
    text,
    found,
    picture,
    definition,
    steps,
    write,
    edit,
    reset: history.reset,
    canUndo: history.canUndo,
    canRedo: history.canRedo,
    undo: () => step(history.undo),
    redo: () => step(history.redo),
  }
}

/** Put the cursor of a text field behind what has changed in it. */
function showChange(before: string, after: string): void {
  const field = document.activeElement
  if (!(field instanceof HTMLTextAreaElement) || field.value !== before) return
  let same = 0
  while (same < before.length && same < after.length && before.at(-1 - same) === after.at(-1 - same)) same++
  requestAnimationFrame(() => field.setSelectionRange(after.length - same, after.length - same))
}
