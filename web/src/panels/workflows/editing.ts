/** A workflow's text while it is edited: checked by the hub, changed by its structure, with every step to be undone. */
import { computed, onScopeDispose, provide, ref, watch, type Ref } from 'vue'

import { ApiError } from '@/api/http'
import type { Step, WorkflowsDefinition } from '@/api/rows'
import { UNDONE } from '@/kit/form'
import { t } from '@/shell/i18n'
import { fail } from '@/shell/toasts'
import { check, type Checked, type Picture } from './flows'
import { useHistory } from './history'
import { Writing } from './writing'

const CHECK_MS = 250

export function useEditing(chosen: Ref<string>) {
  const history = useHistory()
  const found = ref<Checked | null>(null)
  const picture = ref<Picture | null>(null)
  const definition = ref<WorkflowsDefinition | null>(null)
  const steps = computed<Step[]>(() => definition.value?.steps ?? [])
  const undone = ref(0)
  provide(UNDONE, undone)

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
      const made = await check(text.value)
      if (mine !== turn) return
      found.value = made
      if (!made.picture || !made.definition) return
      picture.value = made.picture
      definition.value = made.definition
    } catch (error) {
      fail(error)
    }
  }

  /** Change the text by its structure. `place` is the field that is typed in, `after` the step that is chosen then. */
  function edit(work: (writing: Writing) => Writing, place = '', after = chosen.value): void {
    if (!definition.value) return
    const writing = new Writing(text.value, definition.value)
    if (writing.isBroken) fail(new ApiError(0, 'broken', t('workflows.broken')))
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
