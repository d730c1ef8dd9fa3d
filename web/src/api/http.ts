import type { ResponseOf, Responses } from '../../../sdk/src/index.ts'
import { siteUrl } from '../site-url.ts'
import { takeFirstResponse } from './first-responses.ts'
import { sawNoResponse, sawResponse } from './reachability.ts'
import { endSession, token } from './session-token.ts'

/** Error response of the server; `status` 0 if there was no response. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly body: unknown
  /** Value of Retry-After, if any. */
  readonly retryAfterSeconds: number | undefined
  constructor(status: number, message: string, body?: unknown, retryAfterSeconds?: number) {
    super(message)
    this.status = status
    this.body = body
    this.retryAfterSeconds = retryAfterSeconds
  }
}

type Value = string | number | boolean | undefined | null
type Fields = Readonly<Record<string, Value | readonly Value[]>>

interface CallOptions {
  readonly query?: Fields
  /** Sent as a form; `json` as JSON; `body` unchanged. */
  readonly form?: Fields
  readonly json?: unknown
  readonly body?: BodyInit
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls the public API. `path` is relative to the root of the site: `api2/ping/`. */
export async function call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const sent = token()
  const headers = new Headers(options.headers)
  if (sent !== undefined) headers.set('Authorization', `Token ${sent}`)
  headers.set('Accept', 'application/json')
  let body = options.body
  if (options.form !== undefined) body = fieldsOf(options.form)
  if (options.json !== undefined) {
    body = JSON.stringify(options.json)
    headers.set('Content-Type', 'application/json')
  }
  const url = siteUrl(path)
  if (options.query !== undefined) url.search = fieldsOf(options.query).toString()
  let response: Response
  try {
    const first = method === 'GET' ? takeFirstResponse(url.href, sent) : undefined
    const request = {
      method,
      headers,
      credentials: 'omit' as const,
      ...(body !== undefined && { body }),
      ...(options.signal && { signal: options.signal }),
    }
    response = (await first?.catch(() => undefined)) ?? (await fetch(url, request))
  } catch (error) {
    if (options.signal?.aborted) throw error
    sawNoResponse()
    throw new ApiError(0, String(error))
  }
  // The service worker answers with stored data while the server does not.
  if (response.headers.has('X-Carrel-Stored')) sawNoResponse()
  else sawResponse()
  // A caller that sends If-None-Match expects 304.
  if (response.ok || response.status === 304) return response
  // The session ended elsewhere. A failed sign-in is not a lost session.
  if (response.status === 401 && sent !== undefined && sent === token()) endSession({ expired: true })
  throw await errorOf(response)
}

/** Calls the API and resolves to the JSON of the response. */
async function json<Method extends keyof Responses, Path extends string>(
  method: Method,
  path: Path,
  options?: CallOptions,
): Promise<ResponseOf<Method, Path>> {
  const response = await call(method, path, options)
  return (await response.json()) as ResponseOf<Method, Path>
}

export const api = {
  get: <Path extends string>(path: Path, query?: Fields, signal?: AbortSignal) =>
    json('GET', path, { ...(query && { query }), signal }),
  post: <Path extends string>(path: Path, options?: CallOptions) => json('POST', path, options),
  put: <Path extends string>(path: Path, options?: CallOptions) => json('PUT', path, options),
  delete: <Path extends string>(path: Path, options?: CallOptions) => json('DELETE', path, options),
}

function fieldsOf(fields: Fields): URLSearchParams {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) params.append(name, String(one))
    }
  }
  return params
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  const { status, statusText } = response
  const retryAfter = secondsIn(response.headers.get('Retry-After'))
  try {
    const body: unknown = JSON.parse(text)
    return new ApiError(status, messageIn(body) ?? statusText, body, retryAfter)
  } catch {
    return new ApiError(status, text.slice(0, 300) || statusText, undefined, retryAfter)
  }
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined
}

/** The message of an error response. The API has several shapes for it. */
function messageIn(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  if (typeof body !== 'object' || body === null) return undefined
  for (const name of ['error_msg', 'detail', 'error', 'non_field_errors']) {
    const value: unknown = (body as Record<string, unknown>)[name]
    if (typeof value === 'string') return value
    if (Array.isArray(value) && typeof value[0] === 'string') return value[0]
  }
  return undefined
}
