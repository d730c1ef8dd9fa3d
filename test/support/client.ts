import assert from 'node:assert/strict'

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

/** An HTTP client of the API. */
export class Client {
  readonly url: string
  readonly token: string | undefined
  readonly email: string

  constructor(url: string, token?: string, email = '') {
    this.url = url
    this.token = token
    this.email = email
  }

  static async signIn(url: string, email: string, password: string): Promise<Client> {
    const reply = await new Client(url).post('/api2/auth-token/', { form: { username: email, password } })
    assert.equal(reply.status, 200, reply.text)
    return new Client(url, reply.body.token, email)
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
    const { body, type } = bodyOf(options)
    const search = options.query === undefined ? '' : `?${encode(options.query)}`
    const response = await fetch(this.url + path + search, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token !== undefined && { Authorization: `Token ${this.token}` }),
        ...(type !== undefined && { 'Content-Type': type }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  }

  /** Creates a library and returns its id. */
  async createLibrary(name = 'Library'): Promise<string> {
    const reply = await this.post('/api/v2.1/repos/', { form: { repo_name: name } })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.repo_id
  }
}

function bodyOf(options: CallOptions): { body?: string | FormData | Uint8Array<ArrayBuffer>; type?: string } {
  if (options.raw !== undefined) {
    return { body: typeof options.raw === 'string' ? options.raw : new Uint8Array(options.raw) }
  }
  if (options.json !== undefined) return { body: JSON.stringify(options.json), type: 'application/json' }
  if (options.form !== undefined) {
    return { body: encode(options.form), type: 'application/x-www-form-urlencoded' }
  }
  if (options.multipart === undefined) return {}
  const body = new FormData()
  for (const [name, value] of pairs(options.multipart)) body.append(name, value)
  return { body }
}

function encode(params: Params): string {
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
