/** Words in the languages there are; each language is loaded when it is chosen. */
import { createI18n } from 'vue-i18n'
import { ref } from 'vue'

import { setCatalogue } from '@/browser/sentences'

export const LANGUAGES = { en: 'English', 'zh-CN': '简体中文' } as const
export type Language = keyof typeof LANGUAGES

interface Words {
  default: Record<string, unknown>
  hub: { catalogue: Record<string, string>; comma: string; semicolon: string; codes: Record<string, string> }
}

const loaders: Record<Language, () => Promise<Words>> = {
  en: () => import('@/locales/en'),
  'zh-CN': () => import('@/locales/zh-CN'),
}
const KEPT = 'greenroom.language'

export const i18n = createI18n({
  legacy: false,
  locale: 'en',
  fallbackLocale: 'en',
  missingWarn: false,
  fallbackWarn: false,
  messages: {} as Record<string, Record<string, never>>,
})
export const language = ref<Language>('en')

export function detectLanguage(): Language {
  const kept = localStorage.getItem(KEPT)
  if (kept && kept in LANGUAGES) return kept as Language
  return navigator.languages.some((one) => one.toLowerCase().startsWith('zh')) && !navigator.language.startsWith('en') ? 'zh-CN' : 'en'
}

export async function setLanguage(chosen: Language, keep = true): Promise<void> {
  const { default: words, hub } = await loaders[chosen]()
  setCatalogue(hub.catalogue, hub.comma, hub.semicolon, hub.codes)
  i18n.global.setLocaleMessage(chosen, words as never)
  ;(i18n.global.locale as unknown as { value: string }).value = chosen
  language.value = chosen
  document.documentElement.lang = chosen
  if (keep) localStorage.setItem(KEPT, chosen)
}

/** Words one after the other, as the language separates them. */
export const joinWords = (words: string[]): string => words.join(language.value === 'zh-CN' ? '、' : ', ')

export const t = i18n.global.t as (key: string, values?: Record<string, unknown> | number) => string
