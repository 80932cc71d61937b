/** The document as xterm is given it: the style elements that it makes become style sheets, which the CSP allows. */
export function createXtermDocument(): { document: Document; during: (work: () => void) => void; forget: () => void } {
  const sheets: CSSStyleSheet[] = []
  const style = (): HTMLElement => {
    const sheet = new CSSStyleSheet()
    sheets.push(sheet)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    const stand = Document.prototype.createElement.call(document, 'template')
    const write = { get: () => '', set: (text: string) => sheet.replaceSync(text) }
    Object.defineProperty(stand, 'textContent', write)
    Object.defineProperty(stand, 'innerText', write)
    return stand
  }
  const made = new Proxy(document, {
    get(target, name) {
      if (name === 'createElement') return (tag: string) => (tag === 'style' ? style() : Document.prototype.createElement.call(target, tag))
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value
    },
  })
  /** For what takes the real document whatever it is given. */
  const during = (work: () => void) => {
    document.createElement = made.createElement
    try {
      work()
    } finally {
      delete (document as Partial<Document>).createElement
    }
  }
  const forget = () => (document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet)))
  return { document: made, during, forget }
}
