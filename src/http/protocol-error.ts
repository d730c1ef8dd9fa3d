import { STATUS_CODES } from 'node:http'

/** What was sent is no request we can read; the connection ends with the answer. */
export class ProtocolError extends Error {
  override name = 'WireError'
  readonly status: number
  readonly #retrySeconds: number | undefined

  /** With `retrySeconds`, the client is told when to try again. */
  constructor(status: number, retrySeconds?: number) {
    super(STATUS_CODES[status])
    this.status = status
    this.#retrySeconds = retrySeconds
  }

  /** The whole answer. */
  get text(): string {
    const body = JSON.stringify({ detail: `${this.message}.` })
    const head = [
      `HTTP/1.1 ${this.status} ${this.message}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${body.length}`,
      'Connection: close',
      ...(this.#retrySeconds === undefined ? [] : [`Retry-After: ${this.#retrySeconds}`]),
    ]
    return `${head.join('\r\n')}\r\n\r\n${body}`
  }
}
