import { STATUS_CODES } from 'node:http'
import { currentHttpDate } from './http-date.ts'

/** The client sent something that is not a valid request. The connection ends with the error response. */
export class ProtocolError extends Error {
  override name = 'ProtocolError'
  readonly status: number
  readonly #retrySeconds: number | undefined

  /** With `retrySeconds`, the response has a `Retry-After` field. */
  constructor(status: number, retrySeconds?: number) {
    super(STATUS_CODES[status])
    this.status = status
    this.#retrySeconds = retrySeconds
  }

  /** The header fields specific to the error. */
  get headers(): readonly string[] {
    const retry = this.#retrySeconds === undefined ? [] : ['Retry-After', String(this.#retrySeconds)]
    return ['Content-Type', 'application/json; charset=utf-8', ...retry]
  }

  get body(): string {
    return JSON.stringify({ detail: `${this.message}.` })
  }

  /** The whole response. The response to `HEAD` has no body. */
  responseText(isHead: boolean): string {
    const { body, headers } = this
    let text = `HTTP/1.1 ${this.status} ${this.message}\r\n`
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
    text += `Content-Length: ${body.length}\r\nConnection: close\r\nDate: ${currentHttpDate()}\r\n\r\n`
    return isHead ? text : text + body
  }
}

/** Whether bytes begin with a `HEAD` request, however invalid the rest is. */
export function beginsWithHead(bytes: Buffer | undefined): boolean {
  return bytes !== undefined && /^(?:\r\n)?HEAD /.test(bytes.toString('latin1', 0, 7))
}
