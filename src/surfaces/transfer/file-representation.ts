import type { StoredBytes } from '../../libraries/content/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { type Representation, servedAs, type Validators } from '../../platform/representations/index.ts'
import type { ResponseHeaders } from '../../platform/responses/index.ts'
import { digestHeaders } from './download-digest.ts'

/** A file on its way out. */
interface FileSource extends Validators {
  readonly file: StoredBytes
  readonly name: string
  /** Requests inline display, which is granted only for inert types. */
  readonly wantsInline: boolean
}

/** The response of a file. Content that browsers could execute is sent as a download. */
export function representationOf(
  source: FileSource,
  headers: ResponseHeaders,
  request: HttpRequest,
): Representation {
  const { file, name, wantsInline, etag, lastModified } = source
  const { contentType, isInline, policy } = servedAs(name, wantsInline)
  const shown = disposition(isInline ? 'inline' : 'attachment', name)
  const { 'want-repr-digest': wantsRepr, 'want-content-digest': wantsContent } = request.headers
  const wantsDigest = wantsRepr !== undefined || wantsContent !== undefined
  const hasContent = request.method !== 'HEAD'
  return {
    etag,
    lastModified,
    size: file.size,
    contentType,
    headers: { ...headers, 'Content-Disposition': shown, 'Content-Security-Policy': policy },
    read: file.read,
    readAtOnce: file.readAtOnce,
    describe: wantsDigest
      ? (span) => digestHeaders(request.headers, file, hasContent ? span : undefined)
      : undefined,
  }
}

/**
 * A `Content-Disposition` for any name: `filename*` in percent-encoded UTF-8, and an ASCII `filename` for old
 * clients. No name can end the header or its quotes.
 */
export function disposition(kind: 'attachment' | 'inline', name: string): string {
  // Fast path for plain ASCII names.
  if (/^[\w.-]+$/.test(name)) return `${kind};filename*=utf-8''${name};filename="${name}"`
  return `${kind};filename*=utf-8''${encodeExtended(name)};filename="${asciiName(name)}"`
}

/** Characters that RFC 8187 requires to be percent-encoded. */
function encodeExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function asciiName(name: string): string {
  // One underscore per code point, not per surrogate.
  return name.toWellFormed().replace(/[^\x20-\x7e]|["\\%;]/gu, '_')
}
