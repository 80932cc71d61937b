/** Judges a page by axe-core: what it says of what is serious or worse. */
import { readFileSync } from 'node:fs'

const axe = readFileSync(new URL('../../../web/node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

export async function judge(page, where) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  const serious = violations.filter((one) => ['serious', 'critical'].includes(one.impact))
  return serious.map(
    (one) =>
      `${where}: ${one.id}: ${one.nodes
        .map((node) => `${node.target} ${node.any[0]?.message ?? ''}`)
        .slice(0, 3)
        .join(' | ')}`,
  )
}
