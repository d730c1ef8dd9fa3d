import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { CarrelError, type Entry } from '../../sdk/src/index.ts'
import { ClientError, EXIT } from './client-error.ts'
import { LocalTree } from './local-names.ts'
import { Failures, inParallel } from './pool.ts'
import type { RemoteEntry } from './select.ts'
import type { Session } from './session.ts'
import type { TransferOptions, Transferred } from './upload-tree.ts'

/** A remote file, and where it goes below the root of the download. */
interface Job {
  readonly entry: Entry
  readonly segments: readonly string[]
}

/** How often a transfer goes on after a lost connection without having received a byte. */
const MAX_LOSSES = 5

/** Copies files and folders of a library into a local folder. */
export class TreeDownload {
  readonly transferred: Transferred = { files: 0, bytes: 0, skipped: 0 }
  readonly failures = new Failures()
  readonly #session: Session
  readonly #library: string
  readonly #options: TransferOptions
  readonly #tree: LocalTree

  constructor(session: Session, library: string, root: string, options: TransferOptions) {
    this.#session = session
    this.#library = library
    this.#options = options
    this.#tree = new LocalTree(root)
  }

  /** Copies each source to its name in the root, or the content of a folder into the root if the name is empty. */
  async run(sources: readonly { readonly entry: RemoteEntry; readonly name: string }[]): Promise<void> {
    await inParallel(this.#jobs(sources), this.#options.parallel, async ({ entry, segments }) => {
      try {
        await this.#fetch(entry, segments)
      } catch (error) {
        this.failures.add(entry.path, error)
      }
    })
  }

  async *#jobs(sources: readonly { entry: RemoteEntry; name: string }[]): AsyncGenerator<Job> {
    for (const { entry, name } of sources) {
      const segments = name === '' ? [] : [name]
      if (entry.kind === 'file') {
        this.#options.progress.expect(entry.size)
        yield { entry, segments }
      } else yield* this.#below(entry.path, segments)
    }
  }

  async *#below(folder: string, segments: readonly string[]): AsyncGenerator<Job> {
    const { carrel, signal } = this.#session
    try {
      await this.#tree.makeFolder(segments)
    } catch (error) {
      this.failures.add(folder, error)
      return
    }
    for await (const entry of carrel.list(this.#library, folder, { signal })) {
      const inside = [...segments, entry.name]
      if (entry.kind === 'dir') yield* this.#below(entry.path, inside)
      else {
        this.#options.progress.expect(entry.size)
        yield { entry, segments: inside }
      }
    }
  }

  async #fetch(entry: Entry, segments: readonly string[]): Promise<void> {
    const target = this.#tree.pathOf(segments)
    const { progress, update, noClobber } = this.#options
    const found = update || noClobber ? await lstat(target).catch(() => undefined) : undefined
    const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
    const isSame = found?.size === entry.size && seconds(found.mtime) === seconds(entry.modifiedAt)
    if (found !== undefined && (noClobber || isSame)) {
      progress.add(entry.size, entry.name)
      this.transferred.skipped += 1
      return
    }
    await this.#tree.makeFolder(segments.slice(0, -1))
    await fetchFile(this.#session, this.#library, entry, target, (bytes) => progress.add(bytes, entry.name))
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
  const partial = path.join(path.dirname(target), partialName(entry))
  // Refuses a symbolic link at this path, so that nothing is written to its target.
  await using handle = await open(
    partial,
    constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0),
    0o666,
  )
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
  if ((await stat(target).catch(() => undefined))?.isDirectory()) {
    await rm(partial, { force: true })
    throw new ClientError(`${target} is a folder.`, EXIT.conflict)
  }
  await beforeRename()
  await handle.utimes(entry.modifiedAt, entry.modifiedAt)
  await rename(partial, target)
}

/** Of fixed length, because the name itself may already be as long as names can be. */
function partialName({ id, name }: Entry): string {
  const hash = createHash('sha1').update(name).digest('hex')
  return `.carrel-part-${id.slice(0, 20)}-${hash.slice(0, 12)}`
}

async function writeAll(
  handle: Awaited<ReturnType<typeof open>>,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
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
