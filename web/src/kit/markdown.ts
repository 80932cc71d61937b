/** Markdown from anybody, made harmless: no HTML, no script, nothing loaded from elsewhere. */
import DOMPurify from 'dompurify'
import MarkdownIt from 'markdown-it'

import { reveal } from './hiddenCharacters'

const md = new MarkdownIt({ html: false, linkify: true, breaks: true, typographer: false })
md.validateLink = (url) => /^(https?:|mailto:|\/(?!\/)|#)/i.test(url.trim())
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false })

const OWN_PICTURE = /^(\/api\/uploads\/[\w.-]+|data:image\/(png|jpeg|gif|webp);base64,)/

md.renderer.rules.image = (tokens, at) => {
  const token = tokens[at]!
  const source = String(token.attrGet('src') ?? '')
  const words = md.utils.escapeHtml(token.content || source)
  const place = source.startsWith('/') ? 'data-own' : 'src' // the hub's own are fetched with the page's key, see Markdown.vue
  if (OWN_PICTURE.test(source)) return `<img ${place}="${md.utils.escapeHtml(source)}" alt="${words}" loading="lazy">`
  return `<a href="${md.utils.escapeHtml(source)}">🖼 ${words}</a>`
}
md.renderer.rules.fence = (tokens, at) => {
  const token = tokens[at]!
  const language = token.info.trim().split(/\s+/)[0] ?? ''
  const code = md.utils.escapeHtml(cutLines(token.content))
  if (language === 'mermaid') return `<figure class="diagram" data-diagram><pre><code>${code}</code></pre></figure>`
  const name = /^[\w+#.-]{1,20}$/.test(language) ? language : ''
  const caption = `<figcaption>${name}<button type="button" data-copy></button></figcaption>`
  return `<figure class="code">${caption}<pre tabindex="0"><code>${code}</code></pre></figure>`
}
md.renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>'
md.renderer.rules.table_close = () => '</table></div>'

// Where a column stands is a class: an attribute of style is refused by the page's policy before it can be sanitised.
for (const cell of ['th_open', 'td_open'] as const)
  md.renderer.rules[cell] = (tokens, at) => {
    const side = /right|center/.exec(String(tokens[at]!.attrGet('style') ?? ''))?.[0]
    return `<${tokens[at]!.tag}${side ? ` class="${side}"` : ''}>`
  }

const MENTION = /(^|[\s(>])@([\p{L}\p{N}_][\p{L}\p{N}_.-]*)/gu
const plainText = md.renderer.rules.text!
md.renderer.rules.text = (tokens, at, options, env, self) =>
  plainText(tokens, at, options, env, self).replace(MENTION, '$1<b class="mention">@$2</b>')

/** A line of a million signs would hold the page up. */
const cutLines = (text: string) =>
  text.length < 4000
    ? text
    : text
        .split('\n')
        .map((line) => (line.length > 4000 ? `${line.slice(0, 4000)} …` : line))
        .join('\n')

const ALLOWED = {
  ALLOWED_TAGS: [
    'p',
    'br',
    'strong',
    'em',
    's',
    'b',
    'a',
    'code',
    'pre',
    'blockquote',
    'ul',
    'ol',
    'li',
    'hr',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
    'img',
    'div',
    'figure',
    'figcaption',
    'button',
  ],
  ALLOWED_ATTR: [
    ...['href', 'src', 'alt', 'class', 'start', 'loading', 'tabindex', 'type', 'target', 'rel'],
    ...['data-copy', 'data-diagram', 'data-own'],
  ],
  ALLOW_DATA_ATTR: false,
}
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A' && node.getAttribute('href') && !node.getAttribute('href')!.startsWith('/')) {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer nofollow')
  }
})

const kept = new Map<string, string>()

export function renderMarkdown(text: string): string {
  const known = kept.get(text)
  if (known !== undefined) return known
  const html = DOMPurify.sanitize(md.render(reveal(text)), ALLOWED)
  if (kept.size > 400) kept.delete(kept.keys().next().value!)
  kept.set(text, html)
  return html
}
