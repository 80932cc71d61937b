/** The kinds of asks, as they are drawn. */
import { CircleHelp, ClipboardCheck, GitFork, ShieldCheck, Signpost } from '@lucide/vue'
import type { Component } from 'vue'

import type { Ask, Subject } from '@/api/rows'
import { reveal, revealSpaces } from '@/kit/reveal'
import { wordsOf } from '@/kit/words'
import { listed, t } from '@/shell/i18n'
import { told } from '@/shell/told'
import { commandOf, lineOf } from './call'

export { changeOf, commandOf, lineOf, pathOf } from './call'

const ICONS: Record<string, Component> = {
  permission: ShieldCheck,
  question: CircleHelp,
  report: ClipboardCheck,
  decision: GitFork,
  gate: Signpost,
}

export const KINDS = Object.keys(ICONS)
export const iconOf = (kind: string): Component => ICONS[kind] ?? CircleHelp
/** What became of it, in one of the words of StatusMark. */
export const stateOf = (ask: Ask): string =>
  ask.state === 'answered' ? ({ approve: 'approved', deny: 'denied' }[ask.answer?.verdict ?? ''] ?? 'answered') : ask.state
/** The same for an ask that is no longer in its list, and may only be put off. */
export const markOf = (ask: Ask): string => (ask.state === 'open' && (ask.snoozed_until ?? 0) > Date.now() ? 'snoozed' : stateOf(ask))
export const toneOf = (risk: string | undefined): string => ({ high: 'red', medium: 'amber' })[risk ?? ''] ?? ''

/** A path as told from the agent's own folder; the whole one is in the ask itself. */
export const nearPath = (path: string, subject: Subject | null | undefined): string => {
  const folder = subject?.directory
  return folder && folder.length > 1 && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
}

/** The working directory of an ask, whole and in a few words. A folder that the node made for the agent has no name that people know. */
export function folderOf(ask: Ask): { path: string; isOwn: boolean; words: string } {
  const path = reveal(ask.subject?.directory ?? ask.labels?.project_directory ?? '')
  const names = path.split('/').filter(Boolean)
  const at = names.indexOf(ask.agent_id ?? '')
  const isOwn = at > 0 && ['work', 'worktrees'].includes(names[at - 1]!) && !names.includes('..')
  const below = names.slice(at + 1).join('/')
  const own = `${t('inbox.remembering.say.own')}${below && ` (${below})`}`
  const short = names.length > 2 ? `…/${names.slice(-2).join('/')}` : path
  return { path, isOwn, words: isOwn ? own : path && `${t('inbox.in')} ${short}` }
}

/** What is said in an ask: by the hub, or by whoever asks. */
export const saidBy = (ask: Ask, words: string): string =>
  ask.asker.by === 'hub' || ask.rule === 'limit' || ask.rule === 'loop' ? told(words) : words
/** All text of an ask, whoever wrote it. */
export const textOf = (ask: Ask): string =>
  [saidBy(ask, ask.text ?? ''), ...(ask.contents ?? []).filter((one) => one.type === 'text').map((one) => one.text ?? '')].filter(Boolean).join('\n\n')
/** How far an approval reaches, with the calls that it covers. */
export function reachOf(ask: Ask, scope: 'once' | 'call' | 'run' | 'profile' | 'rule'): string {
  const words = t(`inbox.scope.${scope}`, { profile: ask.subject?.profile ?? '' })
  const like = scope === 'run' || scope === 'profile' ? told(ask.labels?.like) : ''
  return like ? t('inbox.covers', { words, like }) : words
}
/** What a plain yes allows beyond this call, where the rule that asks says so. */
export const alsoAllowedBy = (ask: Ask): string => (ask.labels?.reach ? t('inbox.alsoAllows', { like: told(ask.labels.like) }) : '')
/** Who asks, if it is no agent. */
export const askerOf = (ask: Ask): string => saidBy(ask, ask.asker.name ?? '') || ask.labels?.agent_name || '—'

const SHORT = 48

/** What is asked, in plain words: which programs would run, or which file would change. */
export function titleOf(ask: Ask): string {
  const subject = ask.subject
  if (!subject) return saidBy(ask, ask.title)
  const given = (subject.arguments ?? {}) as Record<string, unknown>
  const command = commandOf(subject)
  if (command !== null) {
    const programs = [...new Set(wordsOf(command).filter((word) => word.kind === 'program').map((word) => word.text.split('/').at(-1)!))]
    const what = command.length <= SHORT && !command.includes('\n') ? command : listed(programs.slice(0, 6))
    return what ? t('inbox.would.run', { what: revealSpaces(what) }) : ask.title
  }
  const path = given.path ?? given.file_path ?? given.filePath
  if (typeof path === 'string') {
    const what = reveal(nearPath(path, subject))
    if (['old_string', 'oldText', 'old_str'].some((name) => name in given)) return t('inbox.would.edit', { what })
    if ('content' in given) return t('inbox.would.write', { what })
  }
  const [, server, tool] = /^(?:mcp__)?([a-z][a-z0-9-]*)__(.+)$/.exec(subject.tool) ?? []
  if (server && tool) return t('inbox.would.use', { what: reveal(tool), server })
  return typeof given.url === 'string' ? t('inbox.would.fetch', { what: reveal(given.url) }) : nearPath(ask.title, subject)
}

/** Whether the title of an ask shows all that would be approved. */
export function isToldByTitle(ask: Ask): boolean {
  const line = lineOf(ask)
  return line !== null && titleOf(ask).includes(ask.subject ? revealSpaces(line) : saidBy(ask, line))
}
