import type { Readable } from 'node:stream'

export type ResponseHeaders = Readonly<Record<string, string | number | readonly string[]>>
export type ResponseBody = string | Buffer | Readable | Chunks

/**
 * Bytes read as fast as the client takes them; a chunk is in use until the next is asked for. `return` lets go of
 * what they come from, at any time.
 */
export interface Chunks {
  next(): Promise<IteratorResult<Buffer, void>>
  return(): Promise<void>
}

/** Bytes in memory that is used again, once whoever has them says that they are done with. */
export interface HeldBytes {
  readonly bytes: Buffer
  readonly release: (() => void) | undefined
}

/** What is written to the client. A handler that returns anything else has it sent as JSON with status 200. */
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

/** `body` as JSON under any status. */
export function jsonResponse(status: number, body: unknown, headers?: ResponseHeaders): HttpResponse {
  const text = JSON.stringify(body)
  // JSON has no undefined. A handler without a return would otherwise send an empty 200.
  if (text === undefined) throw new TypeError('A handler returned nothing that can be sent as JSON')
  return jsonTextResponse(text, { status, headers })
}

/** A response of serialized JSON, for bodies too large or too frequent to build as values first. */
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

/** A line of text under any status. */
export function textResponse(status: number, text: string): HttpResponse {
  return new HttpResponse(status, textHeaders, text)
}
