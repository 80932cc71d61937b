/** The paths of all panels; whatever is not there says so. */
import { createRouter, createWebHistory, type RouteRecordRaw } from 'vue-router'

import { redirectToLogin } from '@/api/http'
import { keyHeaders } from '@/api/pageKey'
import { setRouter } from '@/browser/navigation'
import { may, me } from '@/stores/me'
import { panels } from './panels'
import { showError } from '@/stores/toasts'

const routes = panels.flatMap((panel): RouteRecordRaw[] =>
  panel.routes.map(
    (route) =>
      ({
        ...route,
        path: panel.name === 'home' && !route.path ? '/' : `/${panel.name}${route.path ? `/${route.path}` : ''}`,
        meta: { ...route.meta, panel: panel.name },
      }) as RouteRecordRaw,
  ),
)

export const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: '/home', redirect: '/' },
    ...routes,
    { path: '/tokens', redirect: (to) => ({ path: '/access', query: to.query }) },
    { path: '/:rest(.*)*', component: () => import('./NotFound.vue') },
  ],
})
setRouter(router)

// Whoever may only answer, as the people of a room do, has the inbox for a home.
router.beforeEach((to) => (to.meta.panel === 'home' && me.known && !may('read') ? '/inbox' : true))

router.onError(async (error, to) => {
  // A part of the page that cannot be loaded: the login has ended, or the hub was upgraded meanwhile.
  const known = await fetch('/api/me', { headers: keyHeaders() }).catch(() => null)
  if (known?.status === 401) redirectToLogin()
  else if (known?.ok && sessionStorage.getItem('greenroom.reloaded') !== to.fullPath) {
    sessionStorage.setItem('greenroom.reloaded', to.fullPath)
    location.assign(to.fullPath)
  } else showError(error)
})
