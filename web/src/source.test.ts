/** Rules for the page's source that neither the compiler nor the linter knows. */
import { expect, test } from 'vitest'

/** A folder imports only from itself and from the folders before it. */
const LAYERS = ['locales', 'browser', 'api', 'sync', 'stores', 'kit', 'panels', 'shell']
const IMPORT = /\b(?:from|import)\s*\(?\s*'([^']+)'/g

const sources = Object.entries(
  import.meta.glob<string>(['./**/*.{ts,vue,css}', '!./**/*.test.ts'], { query: '?raw', import: 'default', eager: true }),
).map(([path, text]) => ({ path: path.slice(2), text }))

const getLayer = (path: string): number => LAYERS.indexOf(path.split('/')[0]!)
const getPanel = (path: string): string => /^panels\/\w+/.exec(path)?.[0] ?? ''

function findWrongImports({ path, text }: { path: string; text: string }): string[] {
  const own = getLayer(path)
  if (own < 0) return []
  return [...text.matchAll(IMPORT)]
    .map((match) => match[1]!)
    .filter((target) => {
      if (target.startsWith('../')) return true
      if (!target.startsWith('@/')) return false
      const imported = target.slice(2)
      return getLayer(imported) > own || (getPanel(imported) !== '' && getPanel(imported) !== getPanel(path))
    })
    .map((target) => `${path} imports ${target}`)
}

test('a folder imports only from folders below it, and no panel imports another', () => {
  expect(sources.length).toBeGreaterThan(200)
  expect(sources.flatMap(findWrongImports)).toEqual([])
})

test('no template binds a key with Ctrl by itself: a Mac has another key for it, and the list of keys would not have it', () => {
  const binds = /@key\w+\.(ctrl|meta)\b/
  expect(sources.filter(({ text }) => binds.test(text)).map(({ path }) => path)).toEqual([])
})
