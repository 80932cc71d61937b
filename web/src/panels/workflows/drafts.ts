/** What is written and not saved yet stays in this browser, for each workflow by itself: two tabs keep out of each other's way. */
export interface Draft {
  text: string
  /** The version that was edited; 0 is a workflow that was never saved. */
  version: number
}

const PLACE = 'greenroom.workflow.draft.'
/** Where drafts were kept before, all in one, without their versions. */
const OLDER = 'greenroom.workflow.drafts'

function read<T>(place: string, otherwise: T): T {
  try {
    return (JSON.parse(localStorage.getItem(place) ?? 'null') as T | null) ?? otherwise
  } catch {
    localStorage.removeItem(place) // it was not written by this page
    return otherwise
  }
}

/** The draft of a workflow; a new one has no name yet. `version` is what a draft without one is taken to have edited. */
export function readDraft(name: string, version: number): Draft | null {
  const older = Object.entries(read<Record<string, string>>(OLDER, {}))
  for (const [one, text] of older) localStorage.setItem(PLACE + one, JSON.stringify({ text }))
  localStorage.removeItem(OLDER)
  const found = read<Partial<Draft> | null>(PLACE + name, null)
  return found?.text === undefined ? null : { text: found.text, version: found.version ?? version }
}
export function saveDraft(name: string, draft: Draft | null): void {
  if (draft) localStorage.setItem(PLACE + name, JSON.stringify(draft))
  else localStorage.removeItem(PLACE + name)
}
