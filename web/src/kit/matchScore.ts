/** How well a text fits the letters that somebody typed: 0 is not at all. */
export function scoreMatch(typed: string, title: string, hint = ''): number {
  const wanted = typed.trim().toLowerCase()
  if (!wanted) return 1
  const text = title.toLowerCase()
  if (text.startsWith(wanted)) return 100 - text.length / 100
  const words = wanted.split(/\s+/)
  const whole = `${text} ${hint.toLowerCase()}`
  if (words.every((word) => whole.includes(word))) return 60 + (text.includes(wanted) ? 20 : 0) - text.length / 100
  let at = 0
  for (const sign of wanted.replace(/\s/g, '')) {
    at = text.indexOf(sign, at) + 1
    if (!at) return 0
  }
  return 10 - text.length / 100
}
