import catalogue from '@sentences/zh-CN.json'
import shell from './zh-CN.json'

const found = import.meta.glob<Record<string, unknown>>('../panels/*/i18n/zh-CN.json', { eager: true, import: 'default' })
const panels = Object.entries(found).map(([path, words]) => [path.split('/').at(-3), words])

export default { ...shell, ...Object.fromEntries(panels) } as Record<string, unknown>

export const hub = {
  catalogue: catalogue as Record<string, string>,
  comma: '、',
  semicolon: '；',
  codes: shell.status as Record<string, string>,
}
