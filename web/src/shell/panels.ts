/** All panels there are. */
import type { Panel } from '@/kit/panel'

const found = import.meta.glob<Panel>('../panels/*/panel.ts', { eager: true, import: 'default' })
export const panels: Panel[] = Object.values(found).sort((a, b) => a.order - b.order)
