/** Calls to the hub. Whatever is refused becomes an ApiError whose message is a sentence for people. */
import { build, noteRefusal } from './build'
import { t } from '@/browser/i18n'
import { renderSentence, renderWords, type Sentence } from '@/browser/sentences'
import { parseExact, stringifyExact } from './exactJson'
import { keyHeaders } from './pageKey'

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: unknown = null,
  ) {
    super(message)
  }
}

let isLeaving = false

/** Leave for the login page, which leads back here; who says so first counts, for a second leaving would break off the first. */
export function redirectToLogin(address = `/login?next=${encodeURIComponent(location.pathname)}`): void {
  if (isLeaving) return
  isLeaving = true
  location.assign(address)
}

interface Options {
  query?: Record<string, string | number | boolean | null | undefined>
  key?: string
  signal?: AbortSignal
}

export async function call<T>(method: string, path: string, body?: unknown, options: Options = {}): Promise<T> {
  const query = Object.entries(options.query ?? {}).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  )
  const url = query.length ? `${path}?${new URLSearchParams(query as [string, string][])}` : path
  const headers = keyHeaders()
  const form = body instanceof FormData
  if (body !== undefined && !form) headers['content-type'] = 'application/json'
  if (build && method !== 'GET') headers['x-greenroom-page'] = build
  if (options.key) headers['idempotency-key'] = options.key
  let answer: Response
  try {
    answer = await fetch(url, {
      method,
      headers,
      signal: options.signal,
      body: body === undefined ? undefined : form ? body : stringifyExact(body),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'unreachable', t(method === 'GET' ? 'shell.unreachable' : 'shell.unanswered'))
  }
  const text = await answer.text()
  const data: unknown = text && answer.headers.get('content-type')?.includes('json') ? parseExact(text) : text
  if (answer.ok) return data as T
  if (answer.status === 401) redirectToLogin()
  const { detail, code, key, params } = (typeof data === 'object' && data ? data : {}) as {
    detail?: unknown
    code?: string
  } & Partial<Sentence>
  const english = typeof detail === 'string' ? renderWords(detail) : detail ? JSON.stringify(detail) : answer.statusText
  const sentence = key ? renderSentence({ key, params }, english) : english
  noteRefusal(code ?? '')
  throw new ApiError(answer.status, code ?? String(answer.status), sentence, data)
}

export const get = <T>(path: string, query?: Options['query'], signal?: AbortSignal) => call<T>('GET', path, undefined, { query, signal })
export const post = <T>(path: string, body: unknown = {}, options?: Options) => call<T>('POST', path, body, options)
export const put = <T>(path: string, body: unknown = {}) => call<T>('PUT', path, body)
export const del = <T>(path: string, body?: unknown) => call<T>('DELETE', path, body)

/** An id of our own for something that must be done once, however often it is sent.
 *  Browsers make UUIDs only at addresses they trust; a hub in the office's network may not have one. */
export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
