import { parseOutsideJson } from '../../base/json.ts'
import { type BlockId, parseBlockId } from '../../base/objects/index.ts'
import { type HttpRequest, parseBody, type RequestBody, readBody } from '../../platform/http/index.ts'
import type { Fields } from '../../platform/input/index.ts'
import { Refusal } from '../../platform/responses/index.ts'
import { uploadError } from './upload-wire.ts'

/** 100,000 block ids: a file of 800 GB with the block size of the clients. */
const LARGEST_FORM = 4 * 2 ** 20

/** The fields of a small form. Read only after the ticket was verified. */
export async function readFields(request: HttpRequest, body: RequestBody): Promise<Fields> {
  const bytes = await readBytes(request, body)
  try {
    return await parseBody(request.headers['content-type'], bytes)
  } catch (error) {
    if (error instanceof Refusal) throw uploadError(error.status, 'Malformed form.')
    throw error
  }
}

async function readBytes(request: HttpRequest, body: RequestBody): Promise<Buffer> {
  try {
    return await readBody(body, LARGEST_FORM, request.bodyClaim)
  } catch (error) {
    const isTooLarge = error instanceof Refusal && error.status === 413
    throw isTooLarge ? uploadError(413, 'Request body is too large.') : error
  }
}

/** The file that a commit of blocks describes. */
export interface BlockFile {
  readonly ids: readonly BlockId[]
  /** Bytes of plaintext. */
  readonly size: number
}

/** Throws a refusal for malformed ids or sizes. */
export function readBlockFile(fields: Fields): BlockFile {
  const ids = readBlockIds(fields)
  const size = fields.text('file_size') ?? ''
  if (!/^\d{1,15}$/.test(size)) throw uploadError(400, 'Invalid file size.')
  return { ids, size: Number(size) }
}

/** JSON in a text; a JSON body may have the list itself. */
function readBlockIds(fields: Fields): BlockId[] {
  const sent = fields.raw('blockids')
  if (sent === undefined || sent === null || sent === '') throw uploadError(400, 'No blockids.')
  const list = typeof sent === 'string' ? parseJson(sent) : sent
  const ids = Array.isArray(list)
    ? list.map((id: unknown) => (typeof id === 'string' ? parseBlockId(id) : undefined))
    : [undefined]
  if (!ids.every((id) => id !== undefined)) throw uploadError(400, 'Invalid blockids.')
  return ids
}

function parseJson(text: string): unknown {
  try {
    return parseOutsideJson(text)
  } catch {
    return undefined
  }
}
