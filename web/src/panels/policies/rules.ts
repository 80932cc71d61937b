/** Rules in a few words. */
import type { Rule } from '@/api/rows'

export const TONES: Record<string, string> = { allow: 'green', deny: 'red', ask: 'amber' }

/** What a rule is about, as far as it says so. */
export function said(rule: Rule): string {
  const parts = [rule.tools?.join(', '), rule.kinds?.join(', '), rule.commands?.join(' · '), rule.paths?.join(', '), rule.where && rule.where !== 'any' ? rule.where : '', rule.hosts?.join(', '), rule.profiles?.length ? `@${rule.profiles.join(', @')}` : '', rule.when, rule.hours, rule.note]
  return parts.filter(Boolean).join(' · ')
}

/** What would have been answered otherwise comes first. */
export const linesOf = <T extends { was: string; would: string }>(lines: T[]): T[] => [...lines].sort((a, b) => Number(b.was !== b.would) - Number(a.was !== a.would)).slice(0, 40)
