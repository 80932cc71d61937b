import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

import { quasar, transformAssetUrls } from '@quasar/vite-plugin'
import vue from '@vitejs/plugin-vue'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

const here = fileURLToPath(new URL('.', import.meta.url))
const page = join(here, '../src/greenroom/page')
const out = join(here, `../build/page-${process.pid}`)
const hub = process.env.GREENROOM_URL ?? 'http://127.0.0.1:39765'

/** Lists the panels for the hub, which serves the page at their paths, names the build to both, and compresses every text. */
function forTheHub(): Plugin {
  return {
    name: 'greenroom-hub',
    apply: 'build',
    closeBundle() {
      copyFileSync(join(here, 'node_modules/mermaid/dist/mermaid.min.js'), join(out, 'mermaid.js'))
      // The login page is not part of the bundle, and has the same letters.
      copyFileSync(join(here, 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'), join(out, 'inter.woff2'))
      const index = join(out, 'index.html')
      const html = readFileSync(index, 'utf8')
      const build = createHash('sha256').update(html).digest('hex').slice(0, 16)
      writeFileSync(index, html.replace('<head>', `<head>\n    <meta name="greenroom-build" content="${build}" />`))
      writeFileSync(join(out, 'build.txt'), build)
      for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name)
        if (!entry.isFile() || !/\.(js|css|html|svg|webmanifest)$/.test(entry.name)) continue
        const text = readFileSync(path)
        if (text.length < 1500) continue
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
        writeFileSync(`${path}.br`, brotliCompressSync(text, quality))
        writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }))
      }
      writeFileSync(join(out, 'panels.json'), JSON.stringify(readdirSync(join(here, 'src/panels')).sort()))
      // A hub that runs sees the whole of the old page or the whole of the new one.
      const old = `${out}-old`
      if (existsSync(page)) renameSync(page, old)
      renameSync(out, page)
      rmSync(old, { recursive: true, force: true })
    },
  }
}

export default defineConfig({
  plugins: [vue({ template: { transformAssetUrls } }), quasar({ sassVariables: false }), forTheHub()],
  resolve: { alias: { '@sentences': join(here, '../src/greenroom/sentences'), '@': join(here, 'src') } },
  define: {
    __VUE_OPTIONS_API__: true,
    __VUE_PROD_DEVTOOLS__: false,
    __VUE_I18N_FULL_INSTALL__: false,
    __VUE_I18N_LEGACY_API__: false,
    __INTLIFY_PROD_DEVTOOLS__: false,
  },
  build: {
    outDir: out,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    reportCompressedSize: false,
  },
  test: { include: ['src/**/*.test.ts'] },
  server: {
    port: 5199,
    fs: { allow: [here, join(here, '../src/greenroom/sentences')] },
    proxy: Object.fromEntries(['/api', '/login', '/logout', '/openapi.json', '/health'].map((path) => [path, { target: hub }])),
  },
})
