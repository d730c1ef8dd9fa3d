import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fail } from '../../base/errors.ts'
import type { FileDirent, FileId } from '../../base/objects/index.ts'
import { accountRequester, failIfBusy, type Requester, SharedWork } from '../../base/scheduling/index.ts'
import type { Library, LibraryCore } from '../../libraries/library/index.ts'
import type { Images } from '../../platform/imaging/index.ts'
import { thumbnailSource } from './sources.ts'
import { ThumbnailFailures } from './thumbnail-failures.ts'

/**
 * The sizes of thumbnails, longest side in pixels. A request gets the next larger one, so
 * that a client cannot create thousands per image.
 */
const thumbnailSizes = [48, 96, 128, 192, 256, 384, 512, 1024, 2048] as const

/** The size sent for a requested one; the largest if it exceeds all. */
export function thumbnailSizeFor(asked: number): number {
  return thumbnailSizes.find((size) => size >= asked) ?? Math.max(...thumbnailSizes)
}

const KEPT_SECONDS = 30 * 86_400
const TOUCHED_AFTER_SECONDS = 86_400
const ABANDONED_SECONDS = 600
const MAX_BYTES = 512 * 2 ** 20
/** Written between two checks of the total. */
const CHECKED_AFTER_BYTES = 32 * 2 ** 20

const LIBRARY_FOLDER = /^library-(\d+)$/
const THUMBNAIL = /^([0-9a-f]{40})-\d+\.jpg$/

interface ThumbnailsOptions {
  readonly core: LibraryCore
  readonly images: Images
  /** The cache directory. It holds nothing else, and can be emptied at any time (I3). */
  readonly directory: string
  /** Unix seconds. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Tells which files a library stores, in any version. */
type FindStored = (libraryKey: number, ids: readonly FileId[]) => Promise<ReadonlySet<string>>

/**
 * Small JPEGs of images and of other files that have a picture, created on first request and cached by library and id of the content they
 * show, so that none is ever out of date. The caller has shown a right to read the file (I7).
 */
export class Thumbnails implements AsyncDisposable {
  readonly #options: ThumbnailsOptions
  readonly #making = new SharedWork<Buffer>()
  readonly #failures: ThumbnailFailures
  #unchecked = 0
  #checking: Promise<void> | undefined

  constructor(options: ThumbnailsOptions) {
    this.#options = options
    this.#failures = new ThumbnailFailures(options.now)
  }

  /**
   * `size` is the longest side in pixels; the next larger of the list is sent. Throws thumbnail-failed; busy if it may work later;
   * permission-denied for an encrypted library.
   */
  async get(library: Library, entry: FileDirent, size: number, requester: Requester): Promise<Buffer> {
    if (library.info.encryption !== undefined) fail({ code: 'permission-denied' })
    if (thumbnailSource(entry) === undefined) fail({ code: 'thumbnail-failed' })
    const side = thumbnailSizeFor(size)
    const file = this.#fileOf(library, entry.id, side)
    const cached = await this.#read(file)
    if (cached !== undefined) return cached
    // One job per requester, so that no requester waits in the queue of another.
    return this.#making.run(`${file} ${requester.key}`, requester.signal, (signal) =>
      this.#make(library, entry, side, { key: requester.key, signal }),
    )
  }

  /** Maintenance: evicts thumbnails not used for long, and the oldest if the cache is too large. */
  async deleteStale(): Promise<void> {
    const { now } = this.#options
    const files = await this.#list()
    let bytes = 0
    for (const { file, size, usedAt } of files.sort((a, b) => b.usedAt - a.usedAt)) {
      bytes += size
      if (usedAt < now() - KEPT_SECONDS || bytes > MAX_BYTES) await rm(file, { force: true })
    }
  }

  /** Deletes the thumbnails of files that are not stored any more, in no version. Part of garbage collection. */
  async deleteUnreferenced(findStored: FindStored): Promise<number> {
    const { directory } = this.#options
    let deleted = 0
    for (const name of await listFolder(directory)) {
      const library = LIBRARY_FOLDER.exec(name)?.[1]
      if (library !== undefined)
        deleted += await this.#deleteUnreferencedOf(findStored, name, Number(library))
      else if (name.endsWith('.tmp')) await this.#deleteAbandoned(path.join(directory, name))
      // The layout of earlier versions, which does not say whose a thumbnail is.
      else await rm(path.join(directory, name), { recursive: true, force: true })
    }
    return deleted
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#making.settled()
    await this.#checking
  }

  async #make(library: Library, entry: FileDirent, side: number, requester: Requester): Promise<Buffer> {
    const { core, images } = this.#options
    const { id } = entry
    const source = thumbnailSource(entry) ?? fail({ code: 'thumbnail-failed' })
    this.#failIfKnown(id)
    const file = this.#fileOf(library, id, side)
    const readCached = () => this.#read(file)
    const read = async function* () {
      // Another request may have created it meanwhile.
      const cached = await readCached()
      if (cached !== undefined) throw new AlreadyMade(cached)
      const stored = await library.content.open(id)
      // A chunk is valid only until the next one is requested.
      for await (const bytes of stored.read({ start: 0, end: stored.size })) yield Buffer.from(bytes)
    }
    const owner = accountRequester(library.info.ownerKey)
    const made = await images
      .fit(requester.key, { ...source, owner, read }, side, requester.signal)
      .catch((error) => (error instanceof AlreadyMade ? error : failIfBusy(error)))
    if (made instanceof AlreadyMade) return made.image
    const image = 'images' in made ? made.images[0] : undefined
    if (image === undefined) return this.#noteFailure(id, 'failure' in made ? made.failure : 'undecodable')
    this.#failures.remove(id)
    // On a full disk the space is for what frees some.
    if (core.growth.diskFault() === undefined) await this.#write(file, image)
    return image
  }

  #noteFailure(id: FileId, failure: 'undecodable' | 'exhausted'): never {
    if (failure === 'undecodable') this.#failures.addPermanent(id)
    else this.#failures.addTransient(id)
    this.#failIfKnown(id)
    return fail({ code: 'thumbnail-failed' })
  }

  #failIfKnown(id: FileId): void {
    const failure = this.#failures.find(id)
    if (failure === 'permanent') fail({ code: 'thumbnail-failed' })
    if (failure !== undefined) fail({ code: 'busy', seconds: failure.retryAfterSeconds })
  }

  async #write(file: string, image: Buffer): Promise<void> {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    const temporary = path.join(this.#options.directory, `${randomUUID()}.tmp`)
    try {
      await writeFile(temporary, image, { mode: 0o600, flag: 'wx' })
      await rename(temporary, file)
    } finally {
      await rm(temporary, { force: true })
    }
    this.#unchecked += image.length
    if (this.#unchecked < CHECKED_AFTER_BYTES || this.#checking !== undefined) return
    this.#unchecked = 0
    this.#checking = this.deleteStale()
      .catch(this.#options.onError)
      .finally(() => {
        this.#checking = undefined
      })
  }

  async #read(file: string): Promise<Buffer | undefined> {
    try {
      const bytes = await readFile(file)
      await this.#touch(file)
      return bytes
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** Marks it as used, at most once a day. */
  async #touch(file: string): Promise<void> {
    const now = this.#options.now()
    const { mtimeMs } = await stat(file)
    if (mtimeMs / 1000 < now - TOUCHED_AFTER_SECONDS) await utimes(file, now, now)
  }

  async #list(): Promise<{ file: string; size: number; usedAt: number }[]> {
    const { directory } = this.#options
    const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch((error) =>
      isMissing(error) ? [] : Promise.reject(error),
    )
    const files: { file: string; size: number; usedAt: number }[] = []
    for (const entry of found) {
      if (!entry.isFile()) continue
      const file = path.join(entry.parentPath, entry.name)
      const seen = await stat(file).catch(() => undefined)
      if (seen !== undefined) files.push({ file, size: seen.size, usedAt: seen.mtimeMs / 1000 })
    }
    return files
  }

  async #deleteUnreferencedOf(findStored: FindStored, folder: string, libraryKey: number): Promise<number> {
    const { directory } = this.#options
    const names = await listFolder(path.join(directory, folder))
    const ids = new Map(names.map((name) => [name, THUMBNAIL.exec(name)?.[1] as FileId | undefined]))
    const shown = [...new Set(ids.values())].filter((id) => id !== undefined)
    const stored = await findStored(libraryKey, shown)
    const stale = names.filter((name) => !stored.has(ids.get(name) as FileId))
    for (const name of stale) await rm(path.join(directory, folder, name), { force: true })
    return stale.length
  }

  /** Deletes a temp file that its process did not rename, because it was killed. */
  async #deleteAbandoned(file: string): Promise<void> {
    const seen = await stat(file).catch(() => undefined)
    if (seen !== undefined && seen.mtimeMs / 1000 < this.#options.now() - ABANDONED_SECONDS)
      await rm(file, { force: true })
  }

  // A folder per library, so that garbage collection can ask the library which of the files it still stores.
  #fileOf({ info }: Library, id: FileId, size: number): string {
    return path.join(this.#options.directory, `library-${info.key}`, `${id}-${size}.jpg`)
  }
}

/** The names in a folder; none if it does not exist or is not a folder. */
function listFolder(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  })
}

/** Ends a job whose result is there already. */
class AlreadyMade extends Error {
  readonly image: Buffer

  constructor(image: Buffer) {
    super()
    this.image = image
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
