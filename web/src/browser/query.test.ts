// @vitest-environment jsdom
import { afterEach, expect, test } from 'vitest'
import { createApp, defineComponent, h, nextTick, type App, type Ref } from 'vue'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'

import { useQueryParam } from './query'

let app: App | undefined
afterEach(() => app?.unmount())

/** A page at an address, with two words that belong to it. */
async function open(address: string) {
  const held: { kind?: Ref<string>; words?: Ref<string> } = {}
  const panel = defineComponent({
    setup() {
      held.kind = useQueryParam('kind', 'all', ['all', 'failed'])
      held.words = useQueryParam('words')
      return () => null
    },
  })
  const other = defineComponent({ render: () => null })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/runs', component: panel },
      { path: '/other', component: other },
    ],
  })
  await router.push(address)
  app = createApp({ render: () => h(RouterView) })
  app.use(router).mount(document.createElement('div'))
  await router.isReady()
  return { router, kind: held.kind!, words: held.words! }
}
const settle = async (): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve))
  await nextTick()
}

test('a link leads back to the very same view', async () => {
  const { kind, words } = await open('/runs?kind=failed&words=disk')
  expect([kind.value, words.value]).toEqual(['failed', 'disk'])
})

test('a word that is not known is the usual one', async () => {
  const { kind } = await open('/runs?kind=other')
  expect(kind.value).toBe('all')
})

test('several words are written into the address at once, and the usual one is not', async () => {
  const { router, kind, words } = await open('/runs?kind=failed')
  kind.value = 'all'
  words.value = 'disk'
  await nextTick()
  await settle()
  expect(router.currentRoute.value.fullPath).toBe('/runs?words=disk')
})

test('what is left behind does not call the page back', async () => {
  const { router, words } = await open('/runs')
  words.value = 'disk'
  await nextTick()
  await router.push('/other')
  await settle()
  expect(router.currentRoute.value.fullPath).toBe('/other')
})
