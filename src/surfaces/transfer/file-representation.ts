import type { StoredBytes } from '../../libraries/content/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { type Representation, servedAs, type Validators } from '../../platform/representations/index.ts'
import type { ResponseHeaders } from '../../platform/responses/index.ts'
import { disposition } from './disposition.ts'
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
