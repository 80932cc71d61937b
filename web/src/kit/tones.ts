/** The colour of a chip that names what a rule decides. */
export const DECISION_TONES: Record<string, string> = { allow: 'green', deny: 'red', ask: 'amber' }
