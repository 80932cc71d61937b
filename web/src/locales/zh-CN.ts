import hub from './hub.zh-CN.json'
import shell from './zh-CN.json'

const found = import.meta.glob<Record<string, unknown>>('../panels/*/i18n/zh-CN.json', { eager: true, import: 'default' })
const panels = Object.entries(found).map(([path, words]) => [path.split('/').at(-3), words])

export default { ...shell, ...Object.fromEntries(panels) } as Record<string, unknown>

/** What the hub says, by what it says in English. */
export const sentences: Record<string, string> = hub
