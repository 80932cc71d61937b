// Loaded before what draws diagrams. No text of a diagram is ever parsed as an event handler, and none makes the frame ask
// for anything. This also holds in documents that are never shown, as sanitisers make them: browsers apply the policy there.
const known = new Set(['onfocusin', 'onfocusout', 'ontextinput'])
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const owner = /^[A-Z]/.test(name) && globalThis[name]?.prototype
  if (owner) for (const property of Object.getOwnPropertyNames(owner)) if (/^on[a-z]+$/.test(property)) known.add(property)
}
const bare = [...known].map((name) => name.slice(2)).join('|')
// With a value any name that begins with "on" is taken for a handler; without one, only those that the browser knows.
const HANDLER = `(?<![\\w-])on(?=[a-z]+\\s*=|(?:${bare})[\\s/>])`
const LOADS = String.raw`\burl(?=\(\s*["']?(?!["'#]|data:image/))|image-set(?=\()|@(?=import)`
const HARMFUL = new RegExp(`${HANDLER}|${LOADS}`, 'gi')

/** Break such words up by a sign that is not seen: they are drawn as they are written, and mean nothing. */
const disarm = (text) => String(text ?? '').replace(HARMFUL, (word) => `${word}\u2060`)
const disarmStyle = (text) => disarm(String(text ?? '').replaceAll('\\', ''))
const isOwn = (address) => /^(#|data:image\/)/i.test(address)

function wrapProperty(owner, name, change) {
  const property = Object.getOwnPropertyDescriptor(owner, name)
  if (!property?.set) return
  const set = function (value) {
    property.set.call(this, change(value, this))
  }
  Object.defineProperty(owner, name, { ...property, set })
}
const disarmInside = (markup, place) => (/^style$/i.test(place.tagName) ? disarmStyle(markup) : disarm(markup))
for (const owner of [Element.prototype, ShadowRoot.prototype])
  for (const name of ['innerHTML', 'outerHTML']) wrapProperty(owner, name, disarmInside)
wrapProperty(CSSStyleDeclaration.prototype, 'cssText', disarmStyle)
wrapProperty(HTMLImageElement.prototype, 'src', (address) => (isOwn(String(address)) ? address : ''))

function wrapMethod(owner, name, at, change) {
  const original = owner[name]
  if (!original) return
  owner[name] = function (...given) {
    given[at] = change(given[at])
    return original.apply(this, given)
  }
}
wrapMethod(DOMParser.prototype, 'parseFromString', 0, disarm)
wrapMethod(Range.prototype, 'createContextualFragment', 0, disarm)
wrapMethod(Element.prototype, 'insertAdjacentHTML', 1, disarm)
wrapMethod(Element.prototype, 'setHTMLUnsafe', 0, disarm)
wrapMethod(ShadowRoot.prototype, 'setHTMLUnsafe', 0, disarm)
wrapMethod(Document, 'parseHTMLUnsafe', 0, disarm)
wrapMethod(Document.prototype, 'write', 0, disarm)
wrapMethod(Document.prototype, 'writeln', 0, disarm)
wrapMethod(CSSStyleDeclaration.prototype, 'setProperty', 1, disarmStyle)
wrapMethod(CSSStyleSheet.prototype, 'insertRule', 0, disarmStyle)

const isHarmful = (name, value) => /^on/i.test(name) || (/^(xlink:)?(href|src)$/i.test(name) && !isOwn(value))
const IS_STYLE = /^(style|fill|stroke|filter|mask|clip-path|cursor|marker-\w+)$/i
for (const [method, at] of [
  ['setAttribute', 0],
  ['setAttributeNS', 1],
]) {
  const original = Element.prototype[method]
  Element.prototype[method] = function (...given) {
    const [name, value] = given.slice(at).map(String)
    if (isHarmful(name, value)) return
    if (IS_STYLE.test(name)) given[at + 1] = disarmStyle(value)
    original.apply(this, given)
  }
}
