/** The workflow of the hub that an editor changes: loaded, kept as a draft, saved, and followed when somebody else saves it. */
import { computed, ref, watch, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import { stringify } from 'yaml'

import { ApiError, del, get, post, put } from '@/api/http'
import type { Workflow } from '@/api/rows'
import type { VersionShown, WorkflowShown } from '@/api/types'
import { t } from '@/browser/i18n'
import { useFlows } from '@/stores/flows'
import { useProfiles } from '@/stores/profiles'
import { attempt, showError, showToast } from '@/stores/toasts'
import { useView } from '@/sync/useView'
import { readDraft, saveDraft } from './drafts'
import { buildNewWorkflow } from './newWorkflow'
import type { useWorkflowEditor } from './useWorkflowEditor'
import { askForName, chooseFreeName } from './workflowNames'

/** What the editor has of the hub. */
type Source =
  | { kind: 'loading' }
  /** There is no such workflow. Without versions there never was one. */
  | { kind: 'missing'; versions: VersionShown[] }
  /** This text is what the hub has, or what a new workflow begins with. Version 0 was never saved. */
  | { kind: 'open'; name: string; version: number; text: string }

const pathOf = (name: string) => `/api/workflows/${encodeURIComponent(name)}`

/** What the hub has, as it was written; one that came as values is written out. */
async function readSaved(name: string): Promise<{ text: string; version: number }> {
  const shown = await get<WorkflowShown>(pathOf(name))
  return { text: shown.text || stringify(shown.definition, { lineWidth: 110 }), version: shown.workflow.version }
}
/** The versions of a workflow that was deleted; none if there never was one. */
async function readVersions(name: string): Promise<VersionShown[]> {
  try {
    return await get<VersionShown[]>(`${pathOf(name)}/versions`)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return []
    throw error
  }
}

export function useSavedWorkflow(name: Ref<string>, editing: ReturnType<typeof useWorkflowEditor>) {
  const route = useRoute()
  const router = useRouter()
  const flows = useFlows()
  const profiles = useProfiles()
  const triggers = useView('triggers')
  const { text, found, definition, edit } = editing
  const source = ref<Source>({ kind: 'loading' })
  const isSaving = ref(false)
  const opened = computed(() => (source.value.kind === 'open' ? source.value : null))
  const lost = computed(() => (source.value.kind === 'missing' ? source.value.versions : null))
  const isChanged = computed(() => opened.value !== null && text.value !== opened.value.text)
  const canSave = computed(() => !!found.value?.ok && !isSaving.value && (isChanged.value || !name.value))

  const stored = computed(() => flows.list.find((one) => one.name === name.value))
  const newest = computed(() => Math.max(stored.value?.version ?? 0, opened.value?.version ?? 0))
  const isGone = computed(() => !!opened.value?.name && flows.view.ready && !stored.value)
  const isStale = computed(() => !!opened.value?.name && !isSaving.value && (isGone.value || newest.value > opened.value.version))
  // What was not touched here follows the newest version by itself.
  watch(isStale, () => isStale.value && !isGone.value && !isChanged.value && void takeTheirs())

  function begin(): { text: string; version: number } {
    const { first, promptToSay } = profiles
    const build = (said: string) => promptToSay(said, first)
    return { text: buildNewWorkflow(chooseFreeName(flows.list), first?.name ?? '', build), version: 0 }
  }
  async function load(): Promise<void> {
    const there = name.value ? await readSaved(name.value) : begin()
    const draft = readDraft(name.value, there.version)
    const isDraft = draft !== null && draft.text !== there.text
    editing.reset(isDraft ? draft.text : there.text)
    source.value = { kind: 'open', name: name.value, version: isDraft ? draft.version : there.version, text: there.text }
  }
  const canBegin = () => flows.view.ready && profiles.ready
  watch(
    [name, canBegin],
    async () => {
      if (opened.value?.name === name.value || (!name.value && !canBegin())) return
      source.value = { kind: 'loading' }
      try {
        await load()
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) return showError(error)
        source.value = { kind: 'missing', versions: (await attempt(() => readVersions(name.value))) ?? [] }
      }
    },
    { immediate: true },
  )
  watch(text, () => {
    if (!opened.value) return
    saveDraft(opened.value.name, isChanged.value ? { text: text.value, version: opened.value.version } : null)
  })

  async function save(replaced = opened.value?.version ?? 0): Promise<void> {
    const written = definition.value?.name ?? ''
    if (!canSave.value || !written) return
    const called = await askForName(written, name.value, flows.list)
    if (!called) return
    if (called !== written) edit((document) => document.setWhole('name', called))
    const body = { text: text.value, source: 'page', version: called === name.value ? replaced : 0 }
    isSaving.value = true
    const kept = await attempt(() => put<Workflow>(pathOf(called), body), t('workflows.saved'))
    if (kept) await goOn(called, kept.version, body.text)
    isSaving.value = false
  }
  async function goOn(called: string, version: number, newText: string): Promise<void> {
    const before = name.value
    source.value = { kind: 'open', name: called, version, text: newText }
    for (const one of [before, called]) saveDraft(one, null)
    if (called === before) return
    editing.reset(text.value) // from here on it is this workflow, and has always had this name
    await router.replace({ path: `/workflows/edit/${encodeURIComponent(called)}`, query: route.query })
  }
  async function takeTheirs(): Promise<void> {
    const there = await attempt(() => readSaved(name.value))
    if (there) take(there.text, there.version)
  }
  /** Go on with a version of the hub; what was written here can be had back by undoing. */
  function take(newText: string, version: number): void {
    source.value = { kind: 'open', name: name.value, version, text: newText }
    editing.write(newText)
    saveDraft(name.value, null)
  }
  async function getBack(): Promise<void> {
    if (!(await attempt(() => post<Workflow>(`${pathOf(name.value)}/restore`), t('workflows.isBack')))) return
    source.value = { kind: 'loading' }
    await attempt(load)
  }
  async function forget(): Promise<void> {
    const [called, path] = [name.value, pathOf(name.value)]
    const armed = [...triggers.map('trigger').values()].filter((one) => one.workflow === called && one.armed)
    if (!(await attempt(async () => (await del(path), true)))) return
    source.value = { kind: 'loading' }
    showToast(t('workflows.deleted'), () =>
      attempt(async () => {
        await post(`${path}/restore`)
        for (const one of armed) await post(`/api/triggers/${one.id}/arm`)
      }),
    )
    void router.push('/workflows')
  }
  return {
    opened,
    lost,
    stored,
    newest,
    isChanged,
    isGone,
    isStale,
    canSave,
    save: () => save(),
    /** Save what is written here though another version was saved, or the workflow was deleted, meanwhile. */
    keepMine: () => save(stored.value?.version ?? 0),
    takeTheirs,
    take,
    getBack,
    forget,
    drop: () => opened.value && editing.write(opened.value.text),
  }
}
