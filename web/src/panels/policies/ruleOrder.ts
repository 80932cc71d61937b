/** Where a rule stands among those that a person can move. A place is the name of the rule behind it; the last place is empty. */
import type { KeptRule } from '@/api/rows'

export type RulePlace = string
type Named = Pick<KeptRule, 'name'>

const getIndex = (rules: Named[], name: string): number => rules.findIndex((one) => one.name === name)

export const getPlace = (rules: Named[], name: string): RulePlace => rules[getIndex(rules, name) + 1]?.name ?? ''

/** The place one step before or after a rule's own. */
export const getNextPlace = (rules: Named[], name: string, step: -1 | 1): RulePlace =>
  rules[getIndex(rules, name) + (step < 0 ? -1 : 2)]?.name ?? ''

/** The place of a rule that is dropped on another: it takes that one's position. */
export const getDropPlace = (rules: Named[], name: string, target: string): RulePlace =>
  getIndex(rules, name) < getIndex(rules, target) ? getPlace(rules, target) : target
