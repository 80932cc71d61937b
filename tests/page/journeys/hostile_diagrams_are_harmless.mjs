/** Diagrams that try to run a script or to load something, in every kind of diagram and at every place that takes text. */
import { api, assert, hub, journey, thread, until } from './rig.mjs'

const IMG = '<img src=x onerror=window.__pwned=1>'
const EVIL = 'https://evil.example/x'
const JS = 'javascript:window.__pwned=1'

const FLOWCHARTS = [
  `graph TD; A["${IMG}"] --> B; click A "${JS}"`,
  'graph TD; A["<img src=x onerror>"] --> B["<a onclick/>"] --> C["<details open ontoggle>"]',
  `graph TD; A["<img src='x'onerror=1>"] --> B["<img/onerror=1 src=x>"] --> C["<svg/onload=1>"] --> D["<IMG SRC=x OnErRoR = 1>"]`,
  `graph TD; A["\`**bold** ${IMG}\`"] -->|"${IMG}"| B; subgraph "${IMG}"\nC\nend`,
  `graph TD; A["fa:fa-x ${IMG}"] --> B["$$x^2$$ ${IMG}"] --> C["&lt;img src=x onerror=1&gt;"] --> D["#lt;img src=x onerror=1#gt;"]`,
  `graph TD\nA --> B\nclick A call alert(1) "${IMG}"\nclick B href "${JS}" "${IMG}" _self`,
  `graph TD; A["<iframe srcdoc=x></iframe><video src=${EVIL}><link rel=stylesheet href=${EVIL}><object data=${EVIL}>"] --> B`,
  `graph TD; A@{ img: "${EVIL}", label: "x", h: 60, w: 60 } --> B`,
  `graph TD; A@{ icon: "fa:x onclick=1", label: "${IMG}" } --> B@{ shape: "rect", label: "${IMG}" }`,
]
const SETTINGS = [
  `%%{init: {"securityLevel":"loose","htmlLabels":true,"flowchart":{"htmlLabels":true}}}%%\ngraph TD; A["${IMG}"] --> B`,
  `---\ntitle: "${IMG}"\nconfig:\n  securityLevel: loose\n  flowchart:\n    htmlLabels: true\n---\ngraph TD; A["${IMG}"] --> B`,
  '---\ntitle: "\\x3cimg src=x onerror=window.__pwned=1\\x3e"\n---\ngraph TD; A --> B',
  `%%{init: {"themeCSS":"*{background:url(${EVIL})}</style>${IMG}","fontFamily":"x;} @import url(${EVIL})"}}%%\ngraph TD; A --> B`,
  `%%{init: {"dompurifyConfig":{"ADD_ATTR":["onerror"],"ADD_TAGS":["iframe"]},"secure":[]}}%%\ngraph TD; A["${IMG}<iframe src=x>"]`,
  `%%{init: {"class":{"htmlLabels":true},"state":{"htmlLabels":true}}}%%\nclassDiagram\nclass A["${IMG}"]`,
  'stateDiagram-v2\nclassDef c background:url(//evil.example/c.png),fill:url(//evil.example/c.svg#x)\n[*] --> s1\nclass s1 c',
  'classDiagram\nclass A\nstyle A background:u\\72l(//evil.example/c.png),fill:url(//evil.example/c.svg#x)',
]
const KINDS = [
  `classDiagram\nclass A["${IMG}"]\nA : +m(${IMG})\nA <|-- B : ${IMG}\nnote for A "${IMG}"\nclick A href "${JS}" "${IMG}"`,
  `classDiagram\nA <|-- B\nlink A "${JS}" "${IMG}"\ncallback B "alert" "${IMG}"`,
  `stateDiagram-v2\ns1 : ${IMG}\ns1 --> s2 : ${IMG}\nnote right of s1\n${IMG}\nend note\nstate "${IMG}" as s3`,
  `sequenceDiagram\nparticipant A as ${IMG}\nA->>B: ${IMG}\nNote over A,B: ${IMG}\nlink A: ${IMG} @ ${JS}\nlinks A: {"x": "${JS}"}`,
  'sequenceDiagram\nparticipant A\nproperties A: {"class": "x onclick=1", "onclick": "1"}\nlinks A: {"x": "https://ok.example"}\nA->>B: x',
  `gantt\ntitle ${IMG}\ndateFormat YYYY-MM-DD\nsection ${IMG}\n${IMG} : a1, 2024-01-01, 3d\nclick a1 href "${JS}"\nclick a1 call alert(1)`,
  `pie title ${IMG}\n"${IMG}" : 40\n"b" : 60`,
  `erDiagram\nA ||--o{ B : "${IMG}"\nA {\nstring name "${IMG}"\n}`,
  `journey\ntitle ${IMG}\nsection ${IMG}\n${IMG}: 5: Me, ${IMG}`,
  `mindmap\n  root((${IMG}))\n    A["${IMG}"]\n    ::icon(fa fa-book onclick=1)\n    B[\`**x** ${IMG}\`]`,
  `timeline\ntitle ${IMG}\nsection ${IMG}\n2024 : ${IMG}`,
  `gitGraph\ncommit id: "${IMG}" tag: "${IMG}"\nbranch "${IMG}"`,
  `quadrantChart\ntitle ${IMG}\nx-axis "${IMG}" --> b\n"${IMG}": [0.3, 0.6]`,
  `requirementDiagram\nrequirement r {\nid: 1\ntext: "${IMG}"\nrisk: high\nverifymethod: test\n}`,
  `C4Context\ntitle ${IMG}\nPerson(a, "${IMG}", "${IMG}", $sprite="${EVIL}", $link="${JS}")`,
  `C4Context\nPerson(a, "x")\nUpdateElementStyle(a, $bgColor="url(//evil.example/x)")`,
  `sankey-beta\n"${IMG}",b,10`,
  `xychart-beta\ntitle "${IMG}"\nx-axis ["${IMG}", b]\nbar [1,2]`,
  `block-beta\na["${IMG}"] b\nstyle a background:url(//evil.example/c.png)`,
  `packet-beta\ntitle ${IMG}\n0-15: "${IMG}"`,
  `architecture-beta\ngroup g(cloud)["${IMG}"]\nservice s(database)[x] in g`,
  `kanban\n  a["${IMG}"]\n    b["${IMG}"]@{ assigned: "${IMG}", ticket: "${IMG}" }`,
  `radar-beta\ntitle ${IMG}\naxis a["${IMG}"], b, c\ncurve x["${IMG}"]{1,2,3}`,
  `treemap-beta\n"${IMG}"\n  "${IMG}": 10`,
  IMG,
  `graph TD\n${IMG}`,
]

/** In every frame, before any other script: tell of each handler that a parser makes, wherever it puts it. */
function watchParsers() {
  const look = (place, what) => {
    for (const element of place.querySelectorAll('*'))
      for (const { name } of element.attributes) if (/^on[a-z]+$/i.test(name)) console.error(`${what} made the handler ${name}`)
  }
  const parse = DOMParser.prototype.parseFromString
  DOMParser.prototype.parseFromString = function (...given) {
    const made = parse.apply(this, given)
    look(made, 'a parser')
    return made
  }
  const inner = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML')
  const set = function (markup) {
    inner.set.call(this, markup)
    look(this, 'innerHTML')
  }
  Object.defineProperty(Element.prototype, 'innerHTML', { ...inner, set })
}

await journey(async (visit) => {
  const page = await visit()
  await page.addInitScript(watchParsers)
  const id = await thread('hostile diagrams')
  await page.goto(`${hub.url}/threads/${id}`)
  let drawn = 0
  for (const [at, text] of [...FLOWCHARTS, ...SETTINGS, ...KINDS].entries()) {
    await api('POST', `/api/threads/${id}/messages`, { content: `diagram ${at}\n\n\`\`\`mermaid\n${text}\n\`\`\`` })
    const figure = page
      .locator('.message', { hasText: `diagram ${at}` })
      .last()
      .locator('[data-diagram]')
    await figure.scrollIntoViewIfNeeded()
    const isOver = () => figure.evaluate((place) => (place.querySelector('img') ? 'drawn' : place.title && 'refused'))
    if ((await until(`diagram ${at}: ${text}`, isOver)) === 'drawn') drawn++
  }
  assert.ok(drawn > 30, `most of them are diagrams, and drawn: ${drawn}`)
  for (const frame of page.frames()) assert.equal(await frame.evaluate(() => window.__pwned), undefined)

  await api('POST', `/api/threads/${id}/messages`, { content: 'plain\n\n```mermaid\ngraph TD; A[x = 1] --> B\n```' })
  await page.locator('.message', { hasText: 'plain' }).locator('[data-diagram] img').waitFor()
})
