/** What a panel tells of itself. Panels are folders in src/panels, found by themselves. */
import type { Component } from 'vue'
import type { RouteRecordRaw } from 'vue-router'

export interface PaletteCommand {
  id: string
  title: string
  hint?: string
  icon?: Component
  keys?: string
  run: () => unknown
}

export interface Panel {
  /** The folder's name, the first segment of its paths, and the key of its words in i18n. */
  name: string
  icon: Component
  group: 'work' | 'agents' | 'system'
  order: number
  /** Paths below /<name>; the first is usually ''. Every component is loaded when it is opened. */
  routes: RouteRecordRaw[]
  /** The right without which it is not shown; 'read' unless another is named. */
  needs?: string
  /** In the bar at the foot of a phone's screen. */
  phone?: boolean
  /** Runs once in the shell: what the side bar counts, and whether that wants a person. */
  badge?: () => { count: number; urgent?: boolean }
  /** Runs whenever the palette opens. */
  commands?: () => PaletteCommand[]
}

export const definePanel = (panel: Panel): Panel => panel
