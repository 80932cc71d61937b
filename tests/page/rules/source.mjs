/** Modules of the page that know no DOM, as they are in the source. */
import { readFileSync } from 'node:fs'

import ts from '../../../web/node_modules/typescript/lib/typescript.js'

export function load(path) {
  const text = readFileSync(new URL(`../../../web/src/${path}`, import.meta.url), 'utf8')
  const { outputText } = ts.transpileModule(text, { compilerOptions: { module: 'ESNext', target: 'ES2022' } })
  const vue = new URL('../../../web/node_modules/vue/index.mjs', import.meta.url)
  return import(`data:text/javascript,${encodeURIComponent(outputText.replace("'vue'", `'${vue}'`))}`)
}
