// Draws diagrams in a sandbox of its own: it has no origin, no cookie and no way out but this answer.
const LIGHT = { noteBkgColor: '#fcf0d8', noteTextColor: '#1b1d1a', noteBorderColor: '#d9c08a', fontFamily: 'sans-serif' }
const DARK = { noteBkgColor: '#352a12', noteTextColor: '#e7eae5', noteBorderColor: '#6b5a2a', fontFamily: 'sans-serif' }
const FIXED = {
  startOnLoad: false,
  securityLevel: 'strict',
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  maxTextSize: 20000,
  // What a diagram cannot set for itself, at any depth of its configuration.
  secure: [
    ...['secure', 'securityLevel', 'startOnLoad', 'maxTextSize', 'suppressErrorRendering', 'maxEdges'],
    ...['htmlLabels', 'dompurifyConfig', 'themeCSS', 'altFontFamily', 'fontFamily'],
  ],
}
let number = 0

addEventListener('message', async ({ data, source }) => {
  if (source !== parent || typeof data?.text !== 'string') return
  try {
    mermaid.initialize({ ...FIXED, theme: data.dark ? 'dark' : 'neutral', themeVariables: data.dark ? DARK : LIGHT })
    const { svg } = await mermaid.render(`d${++number}`, data.text)
    const drawn = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement
    const [, , width, height] = (drawn.getAttribute('viewBox') ?? '0 0 600 400').split(/\s+/).map(Number)
    drawn.setAttribute('width', width)
    drawn.setAttribute('height', height)
    drawn.removeAttribute('style')
    parent.postMessage({ id: data.id, svg: new XMLSerializer().serializeToString(drawn) }, '*')
  } catch (error) {
    document.querySelectorAll('body > :not(script)').forEach((left) => left.remove())
    parent.postMessage({ id: data.id, problem: String(error?.message ?? error).slice(0, 300) }, '*')
  }
})
parent.postMessage({ ready: true }, '*')
