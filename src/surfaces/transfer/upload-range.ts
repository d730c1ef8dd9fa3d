import { decodePercent, parametersOf } from '../../platform/input/index.ts'
import { uploadError } from './upload-wire.ts'

/** The part of a file that one request of a resumable upload carries: bytes `start` up to but not including `end`. */
export interface ChunkRange {
  readonly start: number
  readonly end: number
  /** Bytes of the whole file. */
  readonly total: number
}

/** Reads `bytes <first>-<last>/<total>`; undefined if the header was not sent. Throws a refusal. */
export function readChunkRange(header: string | undefined): ChunkRange | undefined {
  if (header === undefined) return undefined
  const [, first, last, total] = /^bytes +(\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(header) ?? []
  const range = { start: Number(first), end: Number(last) + 1, total: Number(total) }
  if (!(range.start < range.end && range.end <= range.total)) throw invalidRange()
  return range
}

export function invalidRange() {
  return uploadError(400, 'Invalid Seafile-Content-Range')
}

/**
 * The file name in the Content-Disposition of a request, percent-decoded in every spelling; `+` is no space. Undefined
 * if there is none.
 */
export function chunkFileName(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const parameters = parametersOf(`;${header}`)
  const extended = /^utf-8'[^']*'(.*)$/is.exec(parameters.get('filename*') ?? '')?.[1]
  const name = extended ?? parameters.get('filename')
  // Headers have one character per byte. Unescaped bytes may be UTF-8.
  return name === undefined ? undefined : decodePercent(Buffer.from(name, 'latin1'))
}
