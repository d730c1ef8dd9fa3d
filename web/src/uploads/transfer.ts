import { join } from '../paths.ts'
import { nextChunk, resumeAt } from './chunks.ts'
import { isNumbered } from './names.ts'
import type { Listed, Network } from './network.ts'
import type { Upload } from './queue.ts'

/** Dependencies and callbacks of a transfer. */
export interface TransferOptions {
  readonly network: Network
  readonly signal: AbortSignal
  /** Undefined if the file must be selected again. */
  readonly fileOf: (upload: Upload) => Promise<File | undefined>
  /** The uploads of this page to the folder of an upload, by their names. */
  readonly namesBeside: (upload: Upload) => ReadonlyMap<string, Upload>
  /** Email of the signed-in account. */
  readonly account: string
  readonly bytesPerSecond: () => number
  readonly onProgress: (upload: Upload, sent: number) => void
  /** Called when an upload resumes; `stored` bytes are on the server. */
  readonly onResume: (upload: Upload, stored: number) => void
  readonly onStored: (upload: Upload, name?: string) => void
  /** Called if the file must be selected again. */
  readonly onLost: (upload: Upload) => void
  /** From now on the upload can be resumed. */
  readonly onBegun: (upload: Upload) => void
  readonly onSent: () => void
}

/** The server refused for another reason than those that its status tells. */
class Refusal extends Error {
  readonly status = 403
}

/** Tolerance for clock differences. A file with a larger difference is not the one we sent. */
const CLOCKS_APART_S = 300

export const folderOf = ({ target, folder }: Pick<Upload, 'target' | 'folder'>) =>
  folder === '' ? target : join(target, folder)

/** Sends files of one folder in one request. The server stores all or none. */
export async function sendFiles(uploads: readonly Upload[], options: TransferOptions): Promise<void> {
  const missing = await notStored(uploads, options)
  if (missing.length === 0) return
  const sent = missing.map(({ upload }) => upload)
  const files = missing.map(({ file }) => file)
  const names = await options.network.postFiles(sent, files, {
    signal: options.signal,
    onSent: options.onSent,
    onProgress: (bytes) => spread(bytes, sent, options.onProgress),
  })
  for (const [index, upload] of sent.entries()) options.onStored(upload, names[index])
}

/** Sends one file in chunks, resuming at the offset of the server. */
export async function sendChunks(upload: Upload, options: TransferOptions): Promise<void> {
  const { network, signal } = options
  const [missing] = await notStored([upload], options)
  if (missing === undefined) return
  const { file } = missing
  const { size, libraryId } = upload
  const there = await network.storedBytes(libraryId, folderOf(upload), upload.name)
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
    const name = await network.postChunk(upload, file.slice(start, end), chunk, {
      signal,
      onProgress: (sent) => options.onProgress(upload, Math.min(start + sent, end)),
      onSent: end === size ? options.onSent : () => undefined,
    })
    stored = end
    if (end === size) options.onStored(upload, name)
    else {
      upload.tries = 0
      options.onBegun(upload)
    }
  }
}

/** Creates empty folders. Idempotent. */
export async function makeFolders(uploads: readonly Upload[], options: TransferOptions): Promise<void> {
  const paths = uploads.map((upload) => join(folderOf(upload), upload.name))
  const failed = await options.network.makeFolders(uploads[0]?.libraryId ?? '', paths)
  const refused = failed.find((message) => !/exists/i.test(message))
  if (refused !== undefined) throw new Refusal(refused)
  for (const upload of uploads) options.onStored(upload)
}

/**
 * Uploads that still have to be sent, with their files. If the connection or the page ended before the response, the server may have stored a file;
 * sending it again would create a second one, and asking for it again would be wrong.
 */
async function notStored(uploads: readonly Upload[], options: TransferOptions) {
  const sources = await Promise.all(
    uploads.map(async (upload) => ({ upload, file: await options.fileOf(upload) })),
  )
  const isUnsure = ({ upload, file }: (typeof sources)[number]) =>
    upload.isUnsure && (!upload.replace || file === undefined)
  const [first] = sources
  if (first === undefined) return []
  const there = sources.some(isUnsure)
    ? await options.network.list(first.upload.libraryId, folderOf(first.upload))
    : undefined
  const byName = new Map(there?.map((entry) => [entry.name, entry]))
  const beside = there === undefined ? new Map<string, Upload>() : options.namesBeside(first.upload)
  const missing: { upload: Upload; file: File }[] = []
  for (const source of sources) {
    const { upload, file } = source
    const stored = isUnsure(source) ? storedAs(upload, byName, beside, options.account) : undefined
    if (stored !== undefined) options.onStored(upload, stored)
    else if (file === undefined) options.onLost(upload)
    else missing.push({ upload, file })
  }
  return missing
}

/** The name under which the server has an upload: its own, or a numbered one if another client was faster. */
function storedAs(
  upload: Upload,
  there: ReadonlyMap<string, Listed>,
  beside: ReadonlyMap<string, Upload>,
  account: string,
): string | undefined {
  const isOurs = (entry: Listed | undefined) =>
    entry?.type === 'file' &&
    entry.size === upload.size &&
    entry.modifier_email === account &&
    isTimeOf(entry.mtime, upload) &&
    (beside.get(entry.name) ?? upload) === upload
  if (isOurs(there.get(upload.name))) return upload.name
  if (upload.replace || !there.has(upload.name)) return undefined
  return [...there.values()].find((entry) => isNumbered(entry.name, upload.name) && isOurs(entry))?.name
}

/** Whether the server stores an upload with this time: that of the file, or of its arrival if it did not accept that one. */
function isTimeOf(mtime: number, { modified, addedAt }: Upload): boolean {
  return mtime === Math.floor(modified / 1000) || mtime > addedAt / 1000 - CLOCKS_APART_S
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
