/** The kinds of asks, as they are drawn. */
import { CircleHelp, ClipboardCheck, GitFork, ShieldCheck, Signpost } from '@lucide/vue'
import type { Component } from 'vue'

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
