import catalogue from '@sentences/en.json'
import shell from './en.json'

const found = import.meta.glob<Record<string, unknown>>('../panels/*/i18n/en.json', { eager: true, import: 'default' })
const panels = Object.entries(found).map(([path, words]) => [path.split('/').at(-3), words])

export default { ...shell, ...Object.fromEntries(panels) } as Record<string, unknown>

export const hub = { catalogue: catalogue as Record<string, string>, comma: ', ', semicolon: '; ', codes: {} }
