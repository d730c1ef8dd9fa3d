import { type IncomingHttpHeaders, type IncomingMessage, METHODS } from 'node:http'
import type { IncomingHttpHeaders as Http2Headers } from 'node:http2'
import { ProtocolError } from '../protocol-error.ts'
import { isHost, isRequestTarget } from '../request-target.ts'
import { MAX_HEADER_FIELDS, type RequestHead, type RequestHeaders } from '../transport.ts'

/** A head as Node's parser reads it, after the checks that parser does not make. */
export interface NodeHead extends RequestHead {
  /** Of the body: 0 without one, undefined if it ends with a chunk or a frame. */
  readonly length: number | undefined
  readonly expectsContinue: boolean
  /** The options of the `Connection` field, in lower case. */
  readonly connection: ReadonlySet<string>
}

const knownMethods = new Set(METHODS.filter((method) => method !== 'CONNECT'))

/** Header fields as Node gives them. */
class NodeHeaders implements RequestHeaders {
  readonly all: IncomingHttpHeaders
  readonly #raw: readonly string[]

  constructor(all: IncomingHttpHeaders, raw: readonly string[]) {
    this.all = all
    this.#raw = raw
  }

  one(name: string): string | undefined {
    for (let at = 0; at < this.#raw.length; at += 2) {
      const candidate = this.#raw[at] ?? ''
      if (candidate.length === name.length && candidate.toLowerCase() === name) return this.#raw[at + 1]
    }
    return undefined
  }
}

/** The head of an HTTP/1 request. Throws a `ProtocolError`. */
export function readHead(request: IncomingMessage): NodeHead {
  const { method = '', url = '', headers, rawHeaders, httpVersion } = request
  const isHttp11 = httpVersion === '1.1'
  if (!isHttp11 && httpVersion !== '1.0') throw new ProtocolError(400)
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) throw new ProtocolError(431)
  if (!knownMethods.has(method) || !isRequestTarget(url)) throw new ProtocolError(400)
  const distinct = request.headersDistinct
  const hosts = distinct['host'] ?? []
  if (isHttp11 ? hosts.length !== 1 : hosts.length > 1) throw new ProtocolError(400)
  if (!hosts.every(isHost)) throw new ProtocolError(400)
  const encodings = distinct['transfer-encoding']
  if (encodings !== undefined) {
    if (encodings.length > 1 || encodings[0]?.toLowerCase() !== 'chunked') throw new ProtocolError(501)
    if (!isHttp11) throw new ProtocolError(400)
  }
  return {
    method,
    url,
    headers: new NodeHeaders(headers, rawHeaders),
    length: encodings === undefined ? contentLength(headers['content-length']) : undefined,
    expectsContinue: readExpect(headers.expect) && isHttp11,
    connection: new Set((headers.connection ?? '').split(',').map((option) => option.trim().toLowerCase())),
  }
}

/** The head of an HTTP/2 request. Throws a `ProtocolError`. */
export function readHttp2Head(sent: Http2Headers, rawHeaders: readonly string[], hasBody: boolean): NodeHead {
  const headers: IncomingHttpHeaders = Object.create(null)
  for (const name in sent) if (!name.startsWith(':')) headers[name] = sent[name]
  const raw = rawHeaders.filter((_, at) => !rawHeaders[at - (at % 2)]?.startsWith(':'))
  const authority = sent[':authority']
  if (authority !== undefined) {
    headers.host = authority
    raw.unshift('host', authority)
  }
  const method = sent[':method'] ?? ''
  const url = sent[':path'] ?? ''
  if (raw.length > 2 * MAX_HEADER_FIELDS) throw new ProtocolError(431)
  if (!knownMethods.has(method) || !isRequestTarget(url)) throw new ProtocolError(400)
  if (headers.host === undefined || !isHost(headers.host)) throw new ProtocolError(400)
  const length = headers['content-length']
  return {
    method,
    url,
    headers: new NodeHeaders(headers, raw),
    length: !hasBody ? 0 : length === undefined ? undefined : contentLength(length),
    expectsContinue: readExpect(headers.expect),
    connection: new Set(),
  }
}

function contentLength(value: string | undefined): number {
  if (value === undefined) return 0
  if (!/^\d{1,15}$/.test(value)) throw new ProtocolError(400)
  return Number(value)
}

function readExpect(value: string | undefined): boolean {
  if (value === undefined) return false
  if (value.toLowerCase() !== '100-continue') throw new ProtocolError(417)
  return true
}
