import { parseOutsideJson } from '../../src/base/json.ts'

/** A complete response. `body` is the parsed JSON, or the text if it is not JSON. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Responses have any shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

type Scalar = string | number | boolean
export type Params = Record<string, Scalar | readonly Scalar[] | undefined>

export interface CallOptions {
  readonly query?: Params
  /** Sent urlencoded. */
  readonly form?: Params
  /** Sent as multipart/form-data. */
  readonly multipart?: Params
  readonly json?: unknown
  readonly headers?: Record<string, string>
  /** Sent unchanged. */
  readonly raw?: string | Uint8Array
}

/** An account that calls the API of a server. Redirects are not followed. */
export interface Client {
  readonly url: string
  /** None: calls are anonymous. */
  readonly token: string | undefined
  readonly email: string
  get(path: string, query?: Params): Promise<Reply>
  post(path: string, options?: CallOptions): Promise<Reply>
  put(path: string, options?: CallOptions): Promise<Reply>
  delete(path: string, options?: CallOptions): Promise<Reply>
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  /** Creates a library and returns its id. */
  createLibrary(name?: string): Promise<string>
}

/** A request that takes longer counts as failed. */
export const REQUEST_TIMEOUT_MS = 120_000
/** The listing of a large folder has a million. */
const MAX_REPLY_VALUES = 10_000_000

/** Is called with each response, before the caller gets it. */
export type Observer = (client: HttpClient, method: string, path: string, reply: Reply) => void

interface HttpClientOptions {
  readonly url: string
  readonly token?: string | undefined
  readonly email?: string
  readonly onReply?: Observer
}

/** A client over HTTP. */
export class HttpClient implements Client {
  readonly url: string
  readonly token: string | undefined
  readonly email: string
  readonly #onReply: Observer | undefined

  constructor({ url, token, email = '', onReply }: HttpClientOptions) {
    this.url = url
    this.token = token
    this.email = email
    this.#onReply = onReply
  }

  get(path: string, query?: Params): Promise<Reply> {
    return this.call('GET', path, query === undefined ? {} : { query })
  }

  post(path: string, options: CallOptions = {}): Promise<Reply> {
    return this.call('POST', path, options)
  }

  put(path: string, options: CallOptions = {}): Promise<Reply> {
    return this.call('PUT', path, options)
  }

  delete(path: string, options: CallOptions = {}): Promise<Reply> {
    return this.call('DELETE', path, options)
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const { body, type } = encoded(options)
    const search = options.query === undefined ? '' : `?${urlencoded(options.query)}`
    const response = await fetch(this.url + path + search, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token !== undefined && { Authorization: `Token ${this.token}` }),
        ...(type !== undefined && { 'Content-Type': type }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    const reply = await replyOf(response)
    this.#onReply?.(this, method, path, reply)
    return reply
  }

  async createLibrary(name = 'Library'): Promise<string> {
    const { status, body, text } = await this.post('/api/v2.1/repos/', { form: { repo_name: name } })
    if (status !== 200) throw new Error(`A library could not be created: ${status} ${text.slice(0, 200)}`)
    return body.repo_id
  }
}

/** Reads a response to its end. */
export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return parseOutsideJson(text, { values: MAX_REPLY_VALUES })
  } catch {
    return text
  }
}

interface Encoded {
  readonly body?: string | FormData | Uint8Array<ArrayBuffer>
  readonly type?: string
}

function encoded({ json, form, multipart, raw }: CallOptions): Encoded {
  if (raw !== undefined) return { body: typeof raw === 'string' ? raw : new Uint8Array(raw) }
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' }
  if (form !== undefined) return { body: urlencoded(form), type: 'application/x-www-form-urlencoded' }
  if (multipart === undefined) return {}
  const body = new FormData()
  for (const [name, value] of pairs(multipart)) body.append(name, value)
  return { body }
}

function urlencoded(params: Params): string {
  return pairs(params)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
}

function pairs(params: Params): [string, string][] {
  return Object.entries(params).flatMap(([name, value]) => {
    if (value === undefined) return []
    const values = Array.isArray(value) ? value : [value]
    return values.map((one): [string, string] => [name, String(one)])
  })
}
