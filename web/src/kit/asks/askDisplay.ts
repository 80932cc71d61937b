/** How the page shows an ask: icon, state, title, text, folder and scope. */
import { CircleHelp, ClipboardCheck, GitFork, ShieldCheck, Signpost, Vote } from '@lucide/vue'
import type { Component } from 'vue'

import type { Ask, AskOption, Subject } from '@/api/rows'
import { reveal, revealSpaces } from '@/kit/hiddenCharacters'
import { splitCommand } from '@/kit/commandWords'
import { joinWords, t } from '@/browser/i18n'
import { renderWords } from '@/browser/sentences'
import { getCommand, getCallLine as buildCallLine } from './callText'
import type { AskKind } from './kindInfo'

export { getChange, getCommand, getPath } from './callText'

const ICONS: Record<AskKind, Component> = {
  permission: ShieldCheck,
  question: CircleHelp,
  report: ClipboardCheck,
  decision: GitFork,
  gate: Signpost,
  poll: Vote,
}

export const getKindIcon = (kind: AskKind): Component => ICONS[kind] ?? CircleHelp
/** The state of an ask, in one of the words of StatusMark. */
export const getShownState = (ask: Ask): string =>
  ask.state === 'answered' ? { approve: 'approved', deny: 'denied', answer: 'answered' }[ask.answer?.verdict ?? 'answer'] : ask.state
/** The same for an ask that is no longer in its list, and may only be put off. */
export const getStatusMark = (ask: Ask): string =>
  ask.state === 'open' && (ask.snoozed_until ?? 0) > Date.now() ? 'snoozed' : getShownState(ask)
export const getRiskTone = (risk: string | undefined): string => ({ high: 'red', medium: 'amber' })[risk ?? ''] ?? ''

/** A path as told from the agent's own folder; the whole one is in the ask itself. */
export const shortenPath = (path: string, subject: Subject | null | undefined): string => {
  const folder = subject?.directory
  return folder && folder.length > 1 && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
}

/** The working directory of an ask, whole and in a few words. A folder that the node made for the agent has no name that people know. */
export function describeFolder(ask: Ask): { path: string; isOwn: boolean; words: string } {
  const path = reveal(ask.subject?.directory ?? ask.labels?.project_directory ?? '')
  const names = path.split('/').filter(Boolean)
  const at = names.indexOf(ask.agent_id ?? '')
  const isOwn = at > 0 && ['work', 'worktrees'].includes(names[at - 1]!) && !names.includes('..')
  const below = names.slice(at + 1).join('/')
  const own = `${t('inbox.remembering.say.own')}${below && ` (${below})`}`
  const short = names.length > 2 ? `…/${names.slice(-2).join('/')}` : path
  return { path, isOwn, words: isOwn ? own : path && `${t('inbox.in')} ${short}` }
}

/** The choices after a crash are known by their labels; an ask of that key comes from the hub. */
const AFTER_A_CRASH: Record<string, string> = { Resume: 'resume', 'Do it again': 'rerun', 'Skip the step': 'skip', 'Give up': 'stop' }
const isAfterCrash = (ask: Ask): boolean => typeof ask.title === 'object' && ask.title.key === 'step_ask.crash'
const wordChoice = (ask: Ask, label: string, what: 'name' | 'says', own: string): string =>
  isAfterCrash(ask) && AFTER_A_CRASH[label] ? t(`inbox.crash.${AFTER_A_CRASH[label]}.${what}`) : own

export const translateQuestion = (ask: Ask, question: string): string => (isAfterCrash(ask) ? translateTitle(ask) : question)
export const translateLabel = (ask: Ask, label: string): string => wordChoice(ask, label, 'name', label)
export const translateOption = (ask: Ask, option: AskOption): string => wordChoice(ask, option.label, 'says', option.description ?? '')
export const translateTitle = (ask: Ask): string => renderWords(ask.title)
export const getCallLine = (ask: Ask): string | null => buildCallLine(ask, translateTitle(ask), renderWords(ask.text))
/** All text of an ask, whoever wrote it. */
export const joinAskText = (ask: Ask): string =>
  [renderWords(ask.text), ...(ask.contents ?? []).filter((one) => one.type === 'text').map((one) => one.text ?? '')]
    .filter(Boolean)
    .join('\n\n')
const translateLike = (ask: Ask): string => renderWords(ask.like ?? ask.labels?.like)
/** How far an approval reaches, with the calls that it covers. */
export function describeScope(ask: Ask, scope: 'once' | 'call' | 'run' | 'profile' | 'rule'): string {
  const words = t(`inbox.scope.${scope}`, { profile: ask.subject?.profile ?? '' })
  const like = scope === 'run' || scope === 'profile' ? translateLike(ask) : ''
  return like ? t('inbox.covers', { words, like }) : words
}
/** What an approval allows beyond this call, where the rule that asks says so. */
export const describeAlsoAllowed = (ask: Ask): string => (ask.labels?.reach ? t('inbox.alsoAllows', { like: translateLike(ask) }) : '')
/** Who asks, if it is no agent. */
export const getAskerName = (ask: Ask): string =>
  ask.asker.workflow_run_id && ask.labels?.workflow
    ? t('inbox.ofWorkflow', { name: ask.labels.workflow })
    : ask.asker.name || ask.labels?.agent_name || '—'

const SHORT_COMMAND_CHARS = 48

/** What is asked, in plain words: which programs would run, or which file would change. */
export function buildTitle(ask: Ask): string {
  const subject = ask.subject
  if (!subject) return translateTitle(ask)
  const given = (subject.arguments ?? {}) as Record<string, unknown>
  const command = getCommand(subject)
  if (command !== null) {
    const programs = [
      ...new Set(
        splitCommand(command)
          .filter((word) => word.kind === 'program')
          .map((word) => word.text.split('/').at(-1)!),
      ),
    ]
    const what = command.length <= SHORT_COMMAND_CHARS && !command.includes('\n') ? command : joinWords(programs.slice(0, 6))
    return what ? t('inbox.would.run', { what: revealSpaces(what) }) : translateTitle(ask)
  }
  const path = given.path ?? given.file_path ?? given.filePath
  if (typeof path === 'string') {
    const what = reveal(shortenPath(path, subject))
    if (['old_string', 'oldText', 'old_str'].some((name) => name in given)) return t('inbox.would.edit', { what })
    if ('content' in given) return t('inbox.would.write', { what })
  }
  const [, server, tool] = /^(?:mcp__)?([a-z][a-z0-9-]*)__(.+)$/.exec(subject.tool) ?? []
  if (server && tool) return t('inbox.would.use', { what: reveal(tool), server })
  return typeof given.url === 'string' ? t('inbox.would.fetch', { what: reveal(given.url) }) : shortenPath(translateTitle(ask), subject)
}

/** Whether the title of an ask shows all that would be approved. */
export function isTitleComplete(ask: Ask): boolean {
  const line = getCallLine(ask)
  return line !== null && buildTitle(ask).includes(ask.subject ? revealSpaces(line) : line)
}
