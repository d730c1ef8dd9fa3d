import { api, CarrelError, errorForStatus } from '../api/index.ts'
import { join } from '../paths.ts'
import { contentRange, nextChunk, resumeAt } from './chunks.ts'
import { encoded, formOf } from './form.ts'
import { listed } from './known-folders.ts'
import { uploadLink } from './links.ts'
import type { Upload } from './queue.ts'
import { send } from './sending.ts'

/** Dependencies and callbacks of a transfer. */
export interface TransferOptions {
  readonly signal: AbortSignal
  readonly fileOf: (upload: Upload) => File
  /** Email of the signed-in account. */
  readonly account: string
  readonly bytesPerSecond: () => number
  readonly onProgress: (upload: Upload, sent: number) => void
  /** Called when an upload resumes; `stored` bytes are on the server. */
  readonly onResume: (upload: Upload, stored: number) => void
  readonly onStored: (upload: Upload, name?: string) => void
  /** From now on the upload can be resumed. */
  readonly onBegun: (upload: Upload) => void
  readonly onSent: () => void
}

/** Tolerance for clock differences. A file with a larger difference is not the one we sent. */
const CLOCKS_APART_S = 300

export const folderOf = ({ target, folder }: Upload) => (folder === '' ? target : join(target, folder))

/** Sends files of one folder in one request. The server stores all or none. */
export async function sendFiles(uploads: readonly Upload[], options: TransferOptions): Promise<void> {
  const missing = await notStored(uploads, options)
  const [first] = missing
  if (first === undefined) return
  const link = await uploadLink(first.libraryId, first.target)
  const form = formOf(
    fieldsOf(first),
    missing.map((upload) => ({
      name: upload.name,
      modified: upload.modified,
      content: options.fileOf(upload),
    })),
  )
  const answer = await send(link, form, {
    signal: options.signal,
    onSent: options.onSent,
    onProgress: (sent) => spread(sent, missing, options.onProgress),
  })
  const names = namesIn(answer)
  for (const [index, upload] of missing.entries()) options.onStored(upload, names[index])
}

/** Sends one file in chunks, resuming at the offset of the server. */
export async function sendChunks(upload: Upload, options: TransferOptions): Promise<void> {
  if (upload.isUnsure && (await notStored([upload], options)).length === 0) return
  const file = options.fileOf(upload)
  const { size, libraryId, target } = upload
  const there = await storedBytes(upload)
  let stored = upload.isBegun ? resumeAt(there, size) : 0
  // If the server has no partial upload of that name now, one found later belongs to this upload.
  if (there === 0) options.onBegun(upload)
  options.onResume(upload, stored)
  for (
    let chunk = nextChunk(stored, size, 0);
    chunk;
    chunk = nextChunk(stored, size, options.bytesPerSecond())
  ) {
    const { start, end } = chunk
    const answer = await send(
      await uploadLink(libraryId, target),
      formOf(fieldsOf(upload), [
        { name: upload.name, modified: upload.modified, content: file.slice(start, end) },
      ]),
      {
        signal: options.signal,
        headers: {
          'Content-Range': contentRange(chunk, size),
          'Content-Disposition': `attachment; filename="${encoded(upload.name)}"`,
        },
        onProgress: (sent) => options.onProgress(upload, Math.min(start + sent, end)),
        onSent: end === size ? options.onSent : () => undefined,
      },
    )
    stored = end
    if (end === size) options.onStored(upload, namesIn(answer)[0])
    else {
      upload.tries = 0
      options.onBegun(upload)
    }
  }
}

/** Creates empty folders. Idempotent. */
export async function makeFolders(uploads: readonly Upload[], options: TransferOptions): Promise<void> {
  const paths = uploads.map((upload) => join(folderOf(upload), upload.name))
  const { failed } = await api.post('api/v2.1/repos/batch-create-dir/', {
    json: { repo_id: uploads[0]?.libraryId, paths },
  })
  const refused = failed.find(({ error_msg: message }) => !/exists/i.test(message))
  if (refused !== undefined) throw errorForStatus(403, refused.error_msg)
  for (const upload of uploads) options.onStored(upload)
}

function fieldsOf({ target, folder, replace }: Upload): Record<string, string> {
  return { parent_dir: target, relative_path: folder, replace: replace ? '1' : '0' }
}

/**
 * Uploads that still have to be sent. If the connection broke before the response, the server may have stored the file;
 * sending it again would create a second one.
 */
async function notStored(uploads: readonly Upload[], options: TransferOptions): Promise<readonly Upload[]> {
  const [first] = uploads
  if (first === undefined || !uploads.some(({ isUnsure, replace }) => isUnsure && !replace)) return uploads
  const there = new Map((await listed(first.libraryId, folderOf(first)))?.map((entry) => [entry.name, entry]))
  return uploads.filter((upload) => {
    const entry = upload.isUnsure ? there.get(upload.name) : undefined
    const isOurs =
      entry?.type === 'file' &&
      entry.size === upload.size &&
      entry.modifier_email === options.account &&
      isTimeOf(entry.mtime, upload)
    if (isOurs) options.onStored(upload)
    return !isOurs
  })
}

/** Whether the server stores an upload with this time: that of the file, or of its arrival if it did not accept that one. */
function isTimeOf(mtime: number, { modified, addedAt }: Upload): boolean {
  return mtime === Math.floor(modified / 1000) || mtime > addedAt / 1000 - CLOCKS_APART_S
}

async function storedBytes(upload: Upload): Promise<number> {
  try {
    const path = `api/v2.1/repos/${upload.libraryId}/file-uploaded-bytes/` as const
    const query = { parent_dir: folderOf(upload), file_name: upload.name }
    return (await api.get(path, query)).uploadedBytes
  } catch (error) {
    // A folder that the last chunk will create does not exist yet, so nothing is stored there.
    if (error instanceof CarrelError && error.status === 404) return 0
    throw error
  }
}

/** Distributes the sent bytes of a request over its files, in order. */
function spread(sent: number, uploads: readonly Upload[], tell: TransferOptions['onProgress']): void {
  let left = sent
  for (const upload of uploads) {
    const own = Math.max(0, Math.min(upload.size, left))
    if (own !== upload.sent) tell(upload, own)
    left -= own
  }
}

function namesIn(answer: unknown): (string | undefined)[] {
  return Array.isArray(answer) ? answer.map((one: { name?: string }) => one.name) : []
}
