import type { AnswerHeaders } from '../http/answer.ts'
import { contentTypeOf, mayBeInline, mayRunScript } from '../http/content-type.ts'
import type { Representation } from '../http/ranges-answer.ts'
import type { Validators } from '../http/ranges-conditions.ts'
import type { HttpRequest } from '../http/request.ts'
import type { StoredBytes } from '../library/content.ts'
import { disposition } from './disposition.ts'
import { digestHeaders } from './download-digest.ts'

/** A file on its way out. */
export interface FileSource extends Validators {
  readonly file: StoredBytes
  readonly name: string
  /** To be shown in the browser, if that can do no harm there. */
  readonly wantsInline: boolean
}

/** How a file is sent. Nothing of its author can act: what may is saved, not shown, and has no origin. */
export function representationOf(
  source: FileSource,
  headers: AnswerHeaders,
  request: HttpRequest,
): Representation {
  const { file, name, wantsInline, ...validators } = source
  const contentType = contentTypeOf(name)
  const isInline = wantsInline && mayBeInline(contentType)
  const { 'want-repr-digest': wantsRepr, 'want-content-digest': wantsContent } = request.headers
  const wantsDigest = wantsRepr !== undefined || wantsContent !== undefined
  const hasContent = request.method !== 'HEAD'
  return {
    ...validators,
    size: file.size,
    contentType,
    headers: {
      ...headers,
      'Content-Disposition': disposition(isInline ? 'inline' : 'attachment', name),
      ...(isConfined(contentType, isInline) && { 'Content-Security-Policy': 'sandbox' }),
    },
    read: file.read,
    readAtOnce: file.readAtOnce,
    ...(wantsDigest && {
      describe: (span) => digestHeaders(request.headers, file, hasContent ? span : undefined),
    }),
  }
}

/** Browsers show no PDF in a sandbox, and keep its scripts to themselves. */
function isConfined(contentType: string, isInline: boolean): boolean {
  return mayRunScript(contentType) || (isInline && contentType !== 'application/pdf')
}
