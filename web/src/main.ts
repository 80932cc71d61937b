import { Dark, Quasar } from 'quasar'
import { createPinia } from 'pinia'
import { createApp, watchEffect } from 'vue'

import 'quasar/dist/quasar.css'
import '@/styles/fonts.css'
import '@/styles/tokens.css'
import '@/styles/base.css'
import App from '@/shell/App.vue'
import { getQuasarIcon } from '@/shell/quasarIcons'
import { i18n, setLanguage, detectLanguage } from '@/browser/i18n'
import { isDark } from '@/browser/theme'
import { loadMe } from '@/stores/me'
import { startWorker } from '@/stores/push'
import { router } from '@/shell/router'
import { startCounting } from '@/shell/visiblePanels'
import { showError } from '@/stores/toasts'
import { renderWords } from '@/browser/sentences'
import { sync } from '@/sync/useView'

async function start(): Promise<void> {
  const met = loadMe()
  await setLanguage(detectLanguage(), false)
  sync.start()
  await met.catch(showError)
  const app = createApp(App).use(createPinia()).use(router).use(i18n)
  app.use(Quasar, { plugins: { Dark }, config: { dark: isDark.value } })
  app.config.globalProperties.$q.iconMapFn = getQuasarIcon
  Object.assign(app.config.globalProperties, { $renderWords: renderWords })
  watchEffect(() => Dark.set(isDark.value))
  startCounting()
  app.mount('#app')
  startWorker().catch(console.error)
}

void start()
