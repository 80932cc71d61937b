/** Changes a workflow's text by its structure, so that comments and the order of keys stay. */
import { Document, isMap, isScalar, isSeq, parseDocument, visit, type YAMLMap, type YAMLSeq } from 'yaml'

import type { Step, Trigger, WorkflowDefinition } from '@/api/rows'
import { STEP_KEYS } from './fields'

const WIDTH = { lineWidth: 110 }
type Facts = Record<string, unknown>

/** Words of other programs, and short forms, are first written in the one form that the forms know. */
export class WorkflowDocument {
  private readonly document: Document
  /** The text cannot be read: nothing is to be written over it. */
  readonly isBroken: boolean

  constructor(
    text: string,
    private readonly definition: WorkflowDefinition,
  ) {
    const parsed = parseDocument(text)
    this.isBroken = parsed.errors.length > 0
    const list = parsed.get('steps')
    const isOurs = isSeq(list) && list.items.every((one) => isMap(one) && typeof one.get('id') === 'string')
    this.document = isOurs ? (parsed as unknown as Document) : new Document(definition)
  }

  get text(): string {
    return this.document.toString(WIDTH)
  }
  private get steps(): YAMLSeq {
    return this.document.get('steps') as YAMLSeq
  }
  private get maps(): YAMLMap[] {
    return this.steps.items.filter(isMap) as YAMLMap[]
  }
  private step(id: string): YAMLMap | undefined {
    const found = this.maps.find((one) => one.get('id') === id)
    const known = this.definition.steps.find((one) => one.id === id)
    const isOurs = found?.items.every((pair) => STEP_KEYS.has(String(pair.key))) && typeof found.get('keep_agent') !== 'string'
    if (!found || !known || isOurs) return found
    const made = this.document.createNode(known) as YAMLMap
    this.steps.set(this.steps.items.indexOf(found), made)
    return made
  }

  /** Write `a.b` of a mapping; undefined takes it away. */
  private put(map: YAMLMap, key: string, value: unknown, facts: Facts | null | undefined): void {
    const [first, ...rest] = key.split('.') as [string, ...string[]]
    if (!rest.length) return void (value === undefined ? map.delete(first) : map.set(first, this.document.createNode(value)))
    let inner = map.get(first, true) as unknown
    if (!isMap(inner)) {
      if (value === undefined && inner === undefined) return
      inner = this.document.createNode(facts?.[first] ?? {})
      map.set(first, inner)
    }
    this.put(inner as YAMLMap, rest.join('.'), value, facts?.[first] as Facts | undefined)
    if (!(inner as YAMLMap).items.length) map.delete(first)
  }

  /** A key of the workflow itself. */
  setWhole(key: string, value: unknown): this {
    this.put(this.document.contents as YAMLMap, key, value, this.definition as unknown as Facts)
    return this
  }
  setStep(id: string, key: string, value: unknown): this {
    const map = this.step(id)
    if (map) this.put(map, key, value, this.definition.steps.find((one) => one.id === id) as unknown as Facts)
    return this
  }
  addStep(step: Step): this {
    this.steps.add(this.document.createNode(step))
    return this
  }

  /** Give a step another id, wherever it is named. */
  rename(id: string, to: string): this {
    this.step(id)?.set('id', to)
    for (const map of this.maps) {
      this.change(map, (list) => list.map((one) => (one === id ? to : one)))
      if (map.get('on_error') === `route:${id}`) map.set('on_error', `route:${to}`)
    }
    const edges = this.document.get('edges')
    if (isSeq(edges))
      for (const edge of edges.items) if (isMap(edge)) for (const end of ['from', 'to']) if (edge.get(end) === id) edge.set(end, to)
    const plain = id.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const named = new RegExp(`\\bsteps(?:\\.${plain}(?![\\w-])|\\[["']${plain}["']\\])`, 'g')
    const path = /^[A-Za-z_]\w*$/.test(to) ? `steps.${to}` : `steps["${to}"]`
    visit(this.document, {
      Scalar: (_, node) => void (isScalar(node) && typeof node.value === 'string' && (node.value = node.value.replace(named, path))),
    })
    return this
  }

  private change(map: YAMLMap, work: (list: string[]) => string[]): void {
    const before = (map.toJSON() as { dependencies?: string[] | string }).dependencies ?? []
    const list = Array.isArray(before) ? before : [before]
    const after = work(list)
    if (after.join('\n') !== list.join('\n')) this.put(map, 'dependencies', after.length ? after : undefined, null)
  }
  join(from: string, to: string): this {
    const map = this.step(to)
    if (map) this.change(map, (list) => (list.includes(from) ? list : [...list, from]))
    return this
  }
  part(from: string, to: string): this {
    const map = this.step(to)
    if (map) this.change(map, (list) => list.filter((one) => one !== from))
    this.dropEdges((edge) => edge.from === from && edge.to === to)
    return this
  }
  removeStep(id: string): this {
    const at = this.steps.items.findIndex((one) => isMap(one) && one.get('id') === id)
    if (at >= 0) this.steps.delete(at)
    for (const map of this.maps) this.change(map, (list) => list.filter((one) => one !== id))
    this.dropEdges((edge) => edge.from === id || edge.to === id)
    return this
  }
  private dropEdges(isGone: (edge: { from?: unknown; to?: unknown }) => boolean): void {
    const edges = this.document.get('edges')
    if (!isSeq(edges)) return
    edges.items = edges.items.filter((edge) => !(isMap(edge) && isGone({ from: edge.get('from'), to: edge.get('to') })))
    if (!edges.items.length) this.document.delete('edges')
  }

  /** The condition of the way from one step to another; without one the other simply comes after it. */
  setWhen(from: string, to: string, when: string | undefined): this {
    const map = this.step(to)
    if (!map) return this
    const edges = this.document.get('edges')
    const edge = isSeq(edges) ? edges.items.find((one) => isMap(one) && one.get('from') === from && one.get('to') === to) : undefined
    if (when !== undefined) {
      if (isMap(edge)) edge.set('when', when)
      else if (isSeq(edges)) edges.add(this.document.createNode({ from, to, when }))
      else this.document.set('edges', this.document.createNode([{ from, to, when }]))
    } else if (isMap(edge)) {
      this.dropEdges((one) => one.from === from && one.to === to)
      this.join(from, to)
    }
    return this
  }

  /** What takes a step back, as a list that can be written in. */
  private rollback(id: string): YAMLSeq | undefined {
    const map = this.step(id)
    const found = map?.get('rollback')
    if (!map || isSeq(found)) return found as YAMLSeq | undefined
    const made = this.document.createNode(this.definition.steps.find((one) => one.id === id)?.rollback ?? []) as YAMLSeq
    map.set('rollback', made)
    return made
  }
  addRollback(id: string, step: Partial<Step>): this {
    this.rollback(id)?.add(this.document.createNode(step))
    return this
  }
  setRollback(id: string, at: number, key: string, value: unknown): this {
    const list = this.rollback(id)
    const known = this.definition.steps.find((one) => one.id === id)?.rollback?.[at]
    if (!list || !known) return this
    const held = list.items[at]
    if (!isMap(held) || !held.items.every((pair) => STEP_KEYS.has(String(pair.key)))) list.set(at, this.document.createNode(known))
    this.put(list.items[at] as YAMLMap, key, value, known as unknown as Facts)
    return this
  }
  removeRollback(id: string, at: number): this {
    const list = this.rollback(id)
    list?.delete(at)
    if (list && !list.items.length) this.step(id)?.delete('rollback')
    return this
  }

  private get triggers(): YAMLSeq {
    const found = this.document.get('triggers')
    if (isSeq(found)) return found
    const made = this.document.createNode(this.definition.triggers ?? []) as YAMLSeq
    this.document.set('triggers', made)
    return made
  }
  addTrigger(trigger: Trigger): this {
    this.triggers.add(this.document.createNode(trigger))
    return this
  }
  setTrigger(at: number, key: string, value: unknown): this {
    const map = this.triggers.items[at]
    if (isMap(map)) this.put(map as YAMLMap, key, value, this.definition.triggers?.[at] as unknown as Facts)
    return this
  }
  replaceTrigger(at: number, trigger: Trigger | null): this {
    if (trigger) this.triggers.set(at, this.document.createNode(trigger))
    else this.triggers.delete(at)
    if (!this.triggers.items.length) this.document.delete('triggers')
    return this
  }
}
