import { CarrelError, errorOf } from './errors.ts'
import type { ResponseOf } from './response-of.ts'
import type { Responses } from './responses.ts'

export interface ConnectionOptions {
  /** Root of the server, for example `https://files.example.org`. */
  readonly url: string
  /** API token or personal token. A function is asked for it before each call. */
  readonly token?: string | (() => string | undefined)
  /** Sent where the platform permits it; browsers send their own. */
  readonly userAgent?: string
  /** Attempts of one call, the first included. Default: 6. */
  readonly maxAttempts?: number
  /** First delay between attempts, doubled each time, up to 60 s. Default: 500 ms. */
  readonly firstDelayMs?: number
  /** Sends the requests. Default: the `fetch` of the platform. */
  readonly fetch?: (url: string, request: RequestInit) => Promise<Response>
}

type Value = string | number | boolean | undefined | null
/** Fields without a value are left out. */
type Fields = Readonly<Record<string, Value | readonly Value[]>>

export interface CallOptions {
  readonly query?: Fields
  readonly form?: Fields
  readonly json?: unknown
  /** Sent as it is, for example a form with files. */
  readonly body?: Blob | FormData
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** One HTTP request with an absolute URL. `body` creates a new body for each attempt. */
interface Sending {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: () => string | Blob | FormData | Uint8Array<ArrayBuffer>
  readonly signal?: AbortSignal | undefined
  /** Whether a second execution has the effect of one. Only then it is repeated after a lost connection. */
  readonly isIdempotent: boolean
}

const MAX_DELAY_MS = 60_000

/** Calls one server with one token. Repeats what the server was too busy for, and what a lost connection may have kept from it. */
export class Connection {
  readonly url: string
  readonly #options: ConnectionOptions

  constructor(options: ConnectionOptions) {
    const url = new URL(options.url)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError('The URL must be http(s).')
    this.url = url.href.replace(/\/+$/, '')
    this.#options = options
  }

  /** Calls the API and resolves to the JSON of the response. `path` is relative to the root: `api2/ping/`. */
  async json<Method extends keyof Responses, Path extends string>(
    method: Method,
    path: Path,
    options: CallOptions = {},
  ): Promise<ResponseOf<Method, Path>> {
    const response = await this.call(method, path, options)
    try {
      return (await response.json()) as ResponseOf<Method, Path>
    } catch (error) {
      if (options.signal?.aborted) throw error
      throw new CarrelError('server', response.status, 'The response is not JSON: is this the right URL?', {
        cause: error,
      })
    }
  }

  call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    const token = typeof this.#options.token === 'function' ? this.#options.token() : this.#options.token
    const search = options.query === undefined ? '' : `?${encode(options.query)}`
    const text =
      options.json === undefined ? options.form && encode(options.form) : JSON.stringify(options.json)
    const type = options.json === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
    const body = text ?? options.body
    return this.send(`${this.url}/${path}${search}`, {
      method,
      isIdempotent: method !== 'POST',
      signal: options.signal,
      headers: {
        Accept: 'application/json',
        ...(token !== undefined && { Authorization: `Token ${token}` }),
        ...(text !== undefined && { 'Content-Type': type }),
        ...options.headers,
      },
      ...(body !== undefined && { body: () => body }),
    })
  }

  /** Sends a request without the token. Resolves to a successful response; throws CarrelError, or the reason of an abort. */
  async send(url: string, sending: Sending): Promise<Response> {
    const { maxAttempts = 6, firstDelayMs = 500 } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(url, sending)
      } catch (error) {
        if (attempt >= maxAttempts || !isWorthRepeating(error, sending)) throw error
        const backoff = firstDelayMs * 2 ** (attempt - 1)
        await pause(withJitter(Math.min(error.retryAfterMs ?? backoff, MAX_DELAY_MS)), sending.signal)
      }
    }
  }

  async #attempt(url: string, { method, headers, body, signal }: Sending): Promise<Response> {
    const { userAgent, fetch: send = fetch } = this.#options
    let response: Response
    try {
      response = await send(url, {
        method,
        credentials: 'omit',
        headers: { ...headers, ...(userAgent !== undefined && { 'User-Agent': userAgent }) },
        ...(body && { body: body() }),
        ...(signal && { signal }),
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw new CarrelError('unreachable', 0, `The server cannot be reached: ${reasonOf(error)}.`, {
        cause: error,
      })
    }
    // A caller that sends If-None-Match expects 304.
    if (response.ok || response.status === 304) return response
    throw await errorOf(response)
  }
}

function isWorthRepeating(error: unknown, { isIdempotent }: Sending): error is CarrelError {
  if (!(error instanceof CarrelError)) return false
  // A response of 503 or 429 says that nothing was done. 504 says that this is not known, and 502 is of a proxy, which cannot know.
  if (error.status === 503 || error.status === 429) return true
  return isIdempotent && (error.kind === 'unreachable' || error.kind === 'busy')
}

/** Spreads clients that were refused together. */
const withJitter = (ms: number) => ms * (1 + Math.random() / 4)

/** Resolves after a time. Rejects with the reason of an abort. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** The innermost cause, because `fetch` says only that it failed. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error))
}

function encode(fields: Fields): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? (value as readonly Value[]) : [value as Value]) {
      if (one !== undefined && one !== null) params.append(name, String(one))
    }
  }
  return params.toString()
}
