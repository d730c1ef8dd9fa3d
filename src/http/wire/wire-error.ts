import { STATUS_CODES } from 'node:http'

/** What was sent is no request we can read; the connection ends with the answer. */
export class WireError extends Error {
  override name = 'WireError'
  readonly status: number

  constructor(status: number) {
    super(STATUS_CODES[status])
    this.status = status
  }

  /** The whole answer. */
  get text(): string {
    const body = JSON.stringify({ detail: `${this.message}.` })
    const head = [
      `HTTP/1.1 ${this.status} ${this.message}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${body.length}`,
      'Connection: close',
    ]
    return `${head.join('\r\n')}\r\n\r\n${body}`
  }
}
