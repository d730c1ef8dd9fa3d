import type { Readable } from 'node:stream'

export type ResponseHeaders = Readonly<Record<string, string | number | readonly string[]>>
type ResponseBody = string | Buffer | Readable | Chunks

/**
 * Bytes read on demand (backpressure). A chunk is valid until the next one is requested. `return` releases
 * the source at any time.
 */
export interface Chunks {
  next(): Promise<IteratorResult<Buffer, void>>
  return(): Promise<void>
}

/** Borrowed bytes, whose memory is reused after `release`. */
export interface HeldBytes {
  readonly bytes: Buffer
  readonly release: (() => void) | undefined
}

/** A response. Any other value that a handler returns is sent as JSON with status 200. */
export class HttpResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: ResponseBody
  /** Called when a body in memory is sent, or will not be. */
  readonly release: (() => void) | undefined

  constructor(status: number, headers: ResponseHeaders, body: ResponseBody, release?: () => void) {
    this.status = status
    this.headers = headers
    this.body = body
    this.release = release
  }
}

const jsonHeaders: ResponseHeaders = { 'Content-Type': 'application/json; charset=utf-8' }

/** `body` as JSON. */
export function jsonResponse(status: number, body: unknown, headers?: ResponseHeaders): HttpResponse {
  const text = JSON.stringify(body)
  // JSON has no undefined. A handler without a return would otherwise send an empty 200.
  if (text === undefined) throw new TypeError('A handler returned nothing that can be sent as JSON')
  return jsonTextResponse(text, { status, headers })
}

/** A response of serialized JSON, for bodies too large or too frequent to be built as values first. */
export function jsonTextResponse(
  text: string | Buffer,
  { status = 200, headers }: { status?: number; headers?: ResponseHeaders | undefined } = {},
): HttpResponse {
  return new HttpResponse(status, headers === undefined ? jsonHeaders : { ...jsonHeaders, ...headers }, text)
}

/** A response of any type. A stream is read to its end, or destroyed if the client leaves first. */
export function rawResponse(parts: {
  status?: number
  headers?: ResponseHeaders
  body: ResponseBody
}): HttpResponse {
  return new HttpResponse(parts.status ?? 200, parts.headers ?? {}, parts.body)
}

const textHeaders: ResponseHeaders = { 'Content-Type': 'text/plain; charset=utf-8' }

/** A line of text. */
export function textResponse(status: number, text: string): HttpResponse {
  return new HttpResponse(status, textHeaders, text)
}
