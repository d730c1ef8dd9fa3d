import { hash } from 'node:crypto'
import type { HttpRequest } from '../http/index.ts'
import { HttpResponse, jsonTextResponse, type ResponseHeaders, rawResponse } from '../responses/index.ts'
import { judge } from './conditional-request.ts'

/**
 * The response of `make` with an entity tag, or 304 if the client has it already. `content` is everything the response depends on.
 * The tag is weak, because the same content may be sent in several codings.
 */
export async function unlessUnchanged(
  request: HttpRequest,
  content: string,
  make: () => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  const etag = hash('sha1', content)
  if (hasTag(request, content)) return rawResponse({ status: 304, headers: tagHeaders(etag), body: '' })
  const { status, headers, body, release } = await make()
  return new HttpResponse(status, { ...headers, ...tagHeaders(etag) }, body, release)
}

/** Whether the client has the response with this content, by the tag that it sends. */
export function hasTag(request: HttpRequest, content: string): boolean {
  const known = request.header('if-none-match')
  return (
    known !== undefined &&
    judge({ 'if-none-match': known }, { etag: hash('sha1', content) }) === 'not-modified'
  )
}

/** `body` as JSON with an entity tag, or 304. For lists that are cheap to make. */
export function jsonUnlessUnchanged(
  request: HttpRequest,
  body: unknown,
  headers?: ResponseHeaders,
): Promise<HttpResponse> {
  const text = JSON.stringify(body)
  return unlessUnchanged(request, text, () => jsonTextResponse(text, { headers }))
}

/** A cache may store the response for this client, and asks each time whether it is current. */
function tagHeaders(etag: string): ResponseHeaders {
  return { ETag: `W/"${etag}"`, 'Cache-Control': 'private, no-cache' }
}
