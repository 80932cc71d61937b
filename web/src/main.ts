import { Dark, Quasar } from 'quasar'
import { createPinia } from 'pinia'
import { createApp, watchEffect } from 'vue'

import 'quasar/dist/quasar.css'
import '@/styles/fonts.css'
import '@/styles/tokens.css'
import '@/styles/base.css'
import App from '@/shell/App.vue'
import { iconOf } from '@/shell/quasarIcons'
import { i18n, setLanguage, wanted } from '@/shell/i18n'
import { isDark } from '@/shell/look'
import { meet } from '@/shell/me'
import { startWorker } from '@/shell/push'
import { router } from '@/shell/router'
import { startCounting } from '@/shell/shown'
import { fail } from '@/shell/toasts'
import { heard, told } from '@/shell/told'
import { sync } from '@/sync/use'

async function start(): Promise<void> {
  const met = meet()
  await setLanguage(wanted(), false)
  sync.start()
  await met.catch(fail)
  const app = createApp(App).use(createPinia()).use(router).use(i18n)
  app.use(Quasar, { plugins: { Dark }, config: { dark: isDark.value } })
  app.config.globalProperties.$q.iconMapFn = iconOf
  Object.assign(app.config.globalProperties, { $told: told, $heard: heard })
  watchEffect(() => Dark.set(isDark.value))
  startCounting()
  app.mount('#app')
  startWorker().catch(console.warn)
}

void start()
