/** The kinds of asks, as they are drawn. */
import { CircleHelp, ClipboardCheck, GitFork, ShieldCheck, Signpost } from '@lucide/vue'
import type { Component } from 'vue'

import type { Ask } from '@/api/rows'

const ICONS: Record<string, Component> = {
  permission: ShieldCheck,
  question: CircleHelp,
  report: ClipboardCheck,
  decision: GitFork,
  gate: Signpost,
}

export const KINDS = Object.keys(ICONS)
export const iconOf = (kind: string): Component => ICONS[kind] ?? CircleHelp
export const toneOf = (risk: string | undefined): string => ({ high: 'red', medium: 'amber' })[risk ?? ''] ?? ''

/** The title, with paths told from the agent's own folder; the exact ones are in the ask itself. */
export const titleOf = (ask: Ask): string => {
  const folder = ask.subject?.directory
  return folder && folder.length > 1 ? ask.title.replaceAll(`${folder}/`, '') : ask.title
}
