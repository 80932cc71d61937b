import { IdCard } from '@lucide/vue'

import { go } from '@/browser/navigation'
import { t } from '@/browser/i18n'
import { definePanel } from '@/kit/panel'
import { useProfiles } from '@/stores/profiles'

export default definePanel({
  name: 'profiles',
  icon: IdCard,
  group: 'agents',
  order: 65,
  needs: 'operate',
  routes: [{ path: ':name?', component: () => import('./ProfilesPanel.vue') }],
  commands: () => [
    { id: 'profile new', title: t('profiles.new'), icon: IdCard, run: () => go('/profiles?new=') },
    ...useProfiles().list.map((one) => ({
      id: `profile ${one.name}`,
      title: one.display_name,
      hint: t('profiles.one'),
      icon: IdCard,
      run: () => go(`/profiles/${one.name}`),
    })),
  ],
})
