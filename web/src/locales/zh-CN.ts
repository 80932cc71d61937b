import catalogue from '@sentences/zh-CN.json'
import english from '@sentences/en.json'
import told from './hub.zh-CN.json'
import shell from './zh-CN.json'

const found = import.meta.glob<Record<string, unknown>>('../panels/*/i18n/zh-CN.json', { eager: true, import: 'default' })
const panels = Object.entries(found).map(([path, words]) => [path.split('/').at(-3), words])

export default { ...shell, ...Object.fromEntries(panels) } as Record<string, unknown>

export const hub = { catalogue: catalogue as Record<string, string>, comma: '、', semicolon: '；' }

/** What the hub says, by what it says in English: sentences that are stored without their keys. */
export const sentences: Record<string, string> = { ...told, ...Object.fromEntries(Object.entries(english).map(numberPlaces)) }

/** An English sentence with numbers for its parameters, and the Chinese one with the same. */
function numberPlaces([key, text]: [string, string]): [string, string] {
  const names = [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const number = (said: string) => said.replace(/\{(\w+)\}/g, (_, name: string) => `{${names.indexOf(name)}}`)
  return [number(text), number(hub.catalogue[key] ?? text)]
}
