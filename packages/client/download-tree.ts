import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { CarrelError, type Entry } from '../../sdk/src/index.ts'
import { ClientError, EXIT } from './client-error.ts'
import { LocalTree } from './local-names.ts'
import { Failures, inParallel } from './pool.ts'
import type { RemoteEntry } from './select.ts'
import type { Session } from './session.ts'
import type { TransferOptions, Transferred } from './upload-tree.ts'
import { zipFiles } from './zip-files.ts'

/** A remote file, and where it goes below the root of the download. */
interface Job {
  readonly entry: Entry
  readonly segments: readonly string[]
}

/** Files that are received by one request, as an archive of entries of a folder. */
interface Batch {
  readonly folder: string
  /** The entries: the files themselves, and folders of which all files are in the batch. */
  readonly names: string[]
  readonly jobs: Job[]
  bytes: number
}

/** Files up to this size are received together. */
const SMALL_BYTES = 1_000_000
const BATCH_FILES = 500
const BATCH_BYTES = 8_000_000
/** Fewer files are received one by one: an archive takes three requests. */
const MIN_ARCHIVED = 3
/** Bytes of an archive besides its files, for each of them: two headers with the name, which a path of 4,096 bytes may be. */
const HEADER_BYTES = 8500

/** How often a transfer goes on after a lost connection without having received a byte. */
const MAX_LOSSES = 5

/** Copies files and folders of a library into a local folder, small files many at a time. */
export class TreeDownload {
  readonly transferred: Transferred = { files: 0, bytes: 0, skipped: 0 }
  readonly failures = new Failures()
  readonly #session: Session
  readonly #library: string
  readonly #options: TransferOptions
  readonly #tree: LocalTree
  /** The state that folders are listed and archived in. */
  #commit = ''
  /** False once the server has refused one: then it is not asked again. */
  #hasArchives = true

  constructor(session: Session, library: string, root: string, options: TransferOptions) {
    this.#session = session
    this.#library = library
    this.#options = options
    this.#tree = new LocalTree(root)
  }

  /** Copies each source to its name in the root, or the content of a folder into the root if the name is empty. */
  async run(sources: readonly { readonly entry: RemoteEntry; readonly name: string }[]): Promise<void> {
    const { carrel, signal } = this.#session
    if (sources.some(({ entry }) => entry.kind === 'dir')) {
      this.#commit = await carrel.head(this.#library, { signal })
    }
    await inParallel(this.#batches(sources), this.#options.parallel, (batch) => this.#receive(batch))
  }

  async *#batches(sources: readonly { entry: RemoteEntry; name: string }[]): AsyncGenerator<Batch> {
    for (const { entry, name } of sources) {
      const segments = name === '' ? [] : [name]
      const rest =
        entry.kind === 'file'
          ? await this.#single({ entry, segments })
          : yield* this.#below(entry.path, segments)
      if (rest !== undefined) yield rest
    }
  }

  /**
   * Yields the files below a folder in batches. Returns the last one instead if it is all of the folder, so that the batch of the parent can have it;
   * undefined if nothing is left.
   */
  async *#below(folder: string, segments: readonly string[]): AsyncGenerator<Batch, Batch | undefined> {
    const { carrel, signal } = this.#session
    try {
      await this.#tree.makeFolder(segments)
    } catch (error) {
      this.failures.add(folder, error)
      return undefined
    }
    let batch = emptyBatch(folder)
    let isWhole = true
    for await (const entry of carrel.list(this.#library, folder, { commit: this.#commit, signal })) {
      const inside = [...segments, entry.name]
      const part =
        entry.kind === 'dir'
          ? yield* this.#below(entry.path, inside)
          : await this.#single({ entry, segments: inside })
      if (part === undefined) isWhole = false
      if (part === undefined || part.jobs.length === 0) continue
      if (part.jobs.length === 1 && part.bytes > SMALL_BYTES) {
        yield part
        isWhole = false
        continue
      }
      if (batch.jobs.length + part.jobs.length > BATCH_FILES || batch.bytes + part.bytes > BATCH_BYTES) {
        yield batch
        batch = emptyBatch(folder)
        isWhole = false
      }
      batch.names.push(entry.name)
      batch.jobs.push(...part.jobs)
      batch.bytes += part.bytes
    }
    if (isWhole && folder !== '/') return batch
    if (batch.jobs.length > 0) yield batch
    return undefined
  }

  /** A file as a batch; undefined if it is skipped, or cannot be local. */
  async #single(job: Job): Promise<Batch | undefined> {
    const { entry, segments } = job
    this.#options.progress.expect(entry.size)
    try {
      if (await this.#isThere(entry, this.#tree.pathOf(segments))) return undefined
    } catch (error) {
      this.failures.add(entry.path, error)
      return undefined
    }
    return { folder: '', names: [], jobs: [job], bytes: entry.size }
  }

  async #receive({ folder, names, jobs }: Batch): Promise<void> {
    const files =
      this.#hasArchives && jobs.length >= MIN_ARCHIVED ? await this.#archived(folder, names, jobs) : undefined
    for (const { entry, segments } of jobs) {
      try {
        await this.#fetch(entry, segments, files?.get(entry.path))
      } catch (error) {
        this.failures.add(entry.path, error)
      }
    }
  }

  /** The content of files by their paths; undefined if the server sends no archive of exactly these files. */
  async #archived(folder: string, names: readonly string[], jobs: readonly Job[]) {
    const { carrel, signal } = this.#session
    try {
      const { body } = await carrel.archive(this.#library, folder, names, { commit: this.#commit, signal })
      const most = jobs.reduce((bytes, { entry }) => bytes + entry.size + HEADER_BYTES, HEADER_BYTES)
      const files = await zipFiles(await wholeBody(body, most))
      const start = folder === '/' ? 1 : folder.length + 1
      // The server renames what other systems would unpack elsewhere, such as `c:x`. Then a name is missing, and none of the others is trusted.
      if (files.size !== jobs.length) throw new RangeError('other files than in the folder')
      return new Map(
        jobs.map(({ entry: { path: at, size } }) => {
          const content = files.get(at.slice(start))
          if (content === undefined) throw new RangeError(`no ${at}`)
          return [at, () => content(size)] as const
        }),
      )
    } catch (error) {
      signal.throwIfAborted()
      // A lost connection says nothing about the next archive. What keeps the files themselves from being received is reported with them.
      if (error instanceof CarrelError) this.#hasArchives = false
      return undefined
    }
  }

  /** Counts a file that is there already, if such files are skipped. */
  async #isThere(entry: Entry, target: string): Promise<boolean> {
    const { progress, update, noClobber } = this.#options
    if (!update && !noClobber) return false
    const found = await lstat(target).catch(() => undefined)
    const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
    const isSame = found?.size === entry.size && seconds(found.mtime) === seconds(entry.modifiedAt)
    if (found === undefined || !(noClobber || isSame)) return false
    progress.add(entry.size, entry.name)
    this.transferred.skipped += 1
    return true
  }

  async #fetch(
    entry: Entry,
    segments: readonly string[],
    content: (() => Promise<Buffer>) | undefined,
  ): Promise<void> {
    const { progress } = this.#options
    const target = this.#tree.pathOf(segments)
    await this.#tree.makeFolder(segments.slice(0, -1))
    const onBytes = (bytes: number) => progress.add(bytes, entry.name)
    if (content === undefined) await fetchFile(this.#session, this.#library, entry, target, onBytes)
    else {
      await writeFile(entry, target, await content())
      onBytes(entry.size)
    }
    progress.fileDone()
    this.transferred.files += 1
    this.transferred.bytes += entry.size
  }
}

/**
 * Downloads one file next to its target and renames it when it is complete. What an earlier attempt has received is kept: the partial
 * file is named after the file id, so it can only be of the same content.
 */
export async function fetchFile(
  { carrel, signal }: Session,
  library: string,
  entry: Entry,
  target: string,
  onBytes: (bytes: number) => void,
  beforeRename: () => Promise<void> = async () => {},
): Promise<void> {
  const partial = partialPath(entry, target)
  await using handle = await openPartial(partial)
  let offset = (await handle.stat()).size
  if (offset > entry.size) {
    await handle.truncate(0)
    offset = 0
  }
  onBytes(offset)
  for (let losses = 0; offset < entry.size; ) {
    try {
      const { body } = await carrel.download(library, entry.path, { start: offset, id: entry.id, signal })
      for await (const bytes of body) {
        if (offset + bytes.length > entry.size) throw new ClientError('The server sent more than the file.')
        await writeAll(handle, bytes, offset)
        offset += bytes.length
        losses = 0
        onBytes(bytes.length)
      }
      if (offset < entry.size) throw new TypeError('the connection was closed')
    } catch (error) {
      const isLost = error instanceof TypeError && !signal.aborted
      losses += 1
      if (!isLost || losses > MAX_LOSSES) throw asCarrelError(error, signal)
    }
  }
  await putInPlace(handle, partial, entry, target, beforeRename)
}

/** Writes a file whose content was received, next to its target, and renames it. */
async function writeFile(entry: Entry, target: string, bytes: Uint8Array): Promise<void> {
  const partial = partialPath(entry, target)
  await using handle = await openPartial(partial)
  await handle.truncate(0)
  await writeAll(handle, bytes, 0)
  await putInPlace(handle, partial, entry, target)
}

async function putInPlace(
  handle: FileHandle,
  partial: string,
  { modifiedAt }: Entry,
  target: string,
  beforeRename: () => Promise<void> = async () => {},
): Promise<void> {
  if ((await stat(target).catch(() => undefined))?.isDirectory()) {
    await rm(partial, { force: true })
    throw new ClientError(`${target} is a folder.`, EXIT.conflict)
  }
  await beforeRename()
  await handle.utimes(modifiedAt, modifiedAt)
  await rename(partial, target)
}

/** Its name is of fixed length, because the name itself may already be as long as names can be. */
function partialPath({ id, name }: Entry, target: string): string {
  const hash = createHash('sha1').update(name).digest('hex')
  return path.join(path.dirname(target), `.carrel-part-${id.slice(0, 20)}-${hash.slice(0, 12)}`)
}

/** Refuses a symbolic link at this path, so that nothing is written to its target. */
function openPartial(partial: string): Promise<FileHandle> {
  return open(partial, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o666)
}

const emptyBatch = (folder: string): Batch => ({ folder, names: [], jobs: [], bytes: 0 })

/** A body of at most so many bytes. */
async function wholeBody(body: ReadableStream<Uint8Array>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > most) throw new RangeError('more bytes than the files have')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const rest = bytes.subarray(written)
    written += (await handle.write(rest, 0, rest.length, position + written)).bytesWritten
  }
}

/** A body that breaks off is reported by `fetch` as a TypeError. */
function asCarrelError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (!(error instanceof TypeError)) return error
  return new CarrelError('unreachable', 0, 'The connection was lost again and again.', { cause: error })
}
