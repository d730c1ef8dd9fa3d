import { randomBytes } from 'node:crypto'
import { type HttpRequest, httpDate } from '../http/index.ts'
import {
  type Chunks,
  type HeldBytes,
  HttpResponse,
  type ResponseHeaders,
  textResponse,
} from '../responses/index.ts'
import { judge, rangeApplies, type Validators } from './conditional-request.ts'
import { startChunks } from './range-chunks.ts'
import { type Span, selectRanges } from './range-header.ts'

/** Bytes of a known length that can be requested whole or in parts. */
export interface Representation extends Validators {
  readonly size: number
  readonly contentType: string
  /** Headers of every response, in addition to those this module sets. */
  readonly headers: ResponseHeaders
  /**
   * The bytes of a non-empty part. Must throw instead of ending early. A chunk's memory may be reused once
   * the next chunk is requested, unless it is the only one.
   */
  read(span: Span): AsyncGenerator<Buffer, void>
  /** A whole part at once; undefined if it must be read in chunks. Optional. */
  readAtOnce?(span: Span): HeldBytes | Promise<HeldBytes> | undefined
  /** Further headers of a response with this part only, such as its digest. */
  readonly describe?: ((span: Span) => Promise<ResponseHeaders>) | undefined
}

/**
 * The response to GET or HEAD: 200, 206, 304, 412 or 416. Resolves after the first bytes were read, so a read error is
 * thrown and not sent. A caller that does not send the response must `discard` it.
 */
export async function respondWith(request: HttpRequest, source: Representation): Promise<HttpResponse> {
  const verdict = judge(request.headers, source)
  if (verdict === 'not-modified') return new HttpResponse(304, sharedHeaders(source), '')
  if (verdict === 'precondition-failed') return textResponse(412, 'Precondition failed.')
  const isHead = request.method === 'HEAD'
  // RFC 9110, 14.2: `Range` is defined for GET only.
  const isPartial = !isHead && rangeApplies(request.headers, source)
  const selection = selectRanges(isPartial ? request.headers.range : undefined, source.size)
  switch (selection.kind) {
    case 'whole':
      return wholeResponse(source, isHead)
    case 'unsatisfiable':
      return unsatisfiable(source)
    case 'parts': {
      const [only, ...more] = selection.spans
      return only !== undefined && more.length === 0
        ? partResponse(source, only)
        : multipartResponse(source, selection.spans)
    }
  }
}

async function wholeResponse(source: Representation, isHead: boolean): Promise<HttpResponse> {
  const { contentType, size } = source
  const span = { start: 0, end: size }
  const headers = sharedHeaders(source)
  if (source.describe !== undefined) Object.assign(headers, await source.describe(span))
  headers['Content-Type'] = contentType
  headers['Content-Length'] = size
  return isHead || size === 0 ? new HttpResponse(200, headers, '') : bytesResponse(200, headers, source, span)
}

async function partResponse(source: Representation, span: Span): Promise<HttpResponse> {
  const headers = sharedHeaders(source)
  if (source.describe !== undefined) Object.assign(headers, await source.describe(span))
  headers['Content-Type'] = source.contentType
  headers['Content-Length'] = span.end - span.start
  headers['Content-Range'] = contentRange(span, source.size)
  return bytesResponse(206, headers, source, span)
}

async function bytesResponse(
  status: number,
  headers: ResponseHeaders,
  source: Representation,
  span: Span,
): Promise<HttpResponse> {
  const held = source.readAtOnce?.(span)
  if (held === undefined) {
    return new HttpResponse(status, headers, await startChunks(source.read(span), span.end - span.start))
  }
  // Awaited only if it is a promise, because each await costs microseconds.
  const { bytes, release } = held instanceof Promise ? await held : held
  return new HttpResponse(status, headers, bytes, release)
}

/** Several parts in one body, each under a header of its own (RFC 9110, 14.6). */
async function multipartResponse(source: Representation, spans: readonly Span[]): Promise<HttpResponse> {
  const boundary = randomBytes(15).toString('base64url')
  const parts = spans.map((span, index) => {
    const head = [
      `${index === 0 ? '' : '\r\n'}--${boundary}`,
      `Content-Type: ${source.contentType}`,
      `Content-Range: ${contentRange(span, source.size)}`,
    ]
    return { span, head: Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1') }
  })
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1')
  const length = parts.reduce((sum, { span, head }) => sum + head.length + span.end - span.start, tail.length)
  const headers = {
    ...sharedHeaders(source),
    'Content-Type': `multipart/byteranges; boundary=${boundary}`,
    'Content-Length': length,
  }
  return new HttpResponse(206, headers, await partsBody(source, parts, tail, length))
}

function partsBody(
  source: Representation,
  parts: readonly { span: Span; head: Buffer }[],
  tail: Buffer,
  length: number,
): Promise<Buffer | Chunks> {
  const chunks = async function* () {
    for (const { span, head } of parts) {
      let pending: Buffer | undefined = head
      for await (const chunk of source.read(span)) {
        // Each part's head is sent with its first bytes, so nothing is sent before they were read.
        if (pending !== undefined) yield pending
        pending = undefined
        yield chunk
      }
    }
    yield tail
  }
  return startChunks(chunks(), length)
}

function unsatisfiable(source: Representation): HttpResponse {
  const { headers } = textResponse(416, '')
  const all = { ...headers, ...sharedHeaders(source), 'Content-Range': `bytes */${source.size}` }
  return new HttpResponse(416, all, 'Requested range not satisfiable.')
}

/** A new object that the caller may extend. */
function sharedHeaders({
  etag,
  lastModified,
  headers,
}: Representation): Record<string, ResponseHeaders[string]> {
  const shared: Record<string, ResponseHeaders[string]> = { ...headers, 'Accept-Ranges': 'bytes' }
  if (etag !== undefined) shared['ETag'] = `"${etag}"`
  if (lastModified !== undefined) shared['Last-Modified'] = httpDate(lastModified)
  return shared
}

function contentRange({ start, end }: Span, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`
}
