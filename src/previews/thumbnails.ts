import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fail } from '../errors.ts'
import type { LibraryCore } from '../library/core.ts'
import type { Library } from '../library/library.ts'
import type { FileDirent } from '../objects/dirent.ts'
import type { FileId } from '../objects/ids.ts'
import { hasThumbnail } from './sources.ts'
import { ThumbnailThread } from './thumbnail-thread.ts'

const KEPT_SECONDS = 30 * 86_400
const TOUCHED_AFTER_SECONDS = 86_400
const MOST_BYTES = 512 * 2 ** 20
const MOST_FAILURES_KEPT = 1000

export interface ThumbnailsOptions {
  readonly core: LibraryCore
  /** Where they are kept. It holds nothing else, and can be emptied at any time (I3). */
  readonly directory: string
  /** Unix seconds. */
  readonly now: () => number
}

/**
 * Small JPEGs of images, made when first asked for and kept for a while under the id of the content they
 * show, so that none is ever out of date. Who asks has shown a right to read the file (I7).
 */
export class Thumbnails implements AsyncDisposable {
  readonly #options: ThumbnailsOptions
  readonly #thread = new ThumbnailThread()
  readonly #making = new Map<string, Promise<Buffer>>()
  /** What no thumbnail could be made of. */
  readonly #failed = new Set<FileId>()

  constructor(options: ThumbnailsOptions) {
    this.#options = options
  }

  /** `size` is the longest side in pixels. Throws thumbnail-failed; permission-denied for an encrypted library. */
  async get(library: Library, entry: FileDirent, size: number): Promise<Buffer> {
    if (library.info.encryption !== undefined) fail({ code: 'permission-denied' })
    if (!hasThumbnail(entry) || this.#failed.has(entry.id)) fail({ code: 'thumbnail-failed' })
    const file = this.#fileOf(entry.id, size)
    const kept = await this.#read(file)
    if (kept !== undefined) return kept
    const known = this.#making.get(file)
    if (known !== undefined) return known
    const making = this.#make(library, entry, size, file).finally(() => this.#making.delete(file))
    this.#making.set(file, making)
    return making
  }

  /** Upkeep: those nobody looked at for long, and the oldest if there are too many. */
  async deleteStale(): Promise<void> {
    const { now } = this.#options
    const files = await this.#list()
    let bytes = 0
    for (const { file, size, usedAt } of files.sort((a, b) => b.usedAt - a.usedAt)) {
      bytes += size
      if (usedAt < now() - KEPT_SECONDS || bytes > MOST_BYTES) await rm(file, { force: true })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]()
    await Promise.allSettled(this.#making.values())
  }

  async #make(library: Library, entry: FileDirent, size: number, file: string): Promise<Buffer> {
    const { core, directory } = this.#options
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    const temporary = path.join(directory, `${randomUUID()}.tmp`)
    const target = `${temporary}.jpg`
    try {
      const bytes = await core.content.open(library.info.key, entry.id)
      const chunks = bytes.read({ start: 0, end: bytes.size })
      await pipeline(Readable.from(owned(chunks)), createWriteStream(temporary, { mode: 0o600 }))
      const failure = await this.#thread.make({ source: temporary, target, size })
      if (failure !== undefined) {
        this.#remember(entry.id)
        return fail({ code: 'thumbnail-failed' })
      }
      const made = await readFile(target)
      await rename(target, file)
      return made
    } finally {
      await rm(temporary, { force: true })
      await rm(target, { force: true })
    }
  }

  #remember(id: FileId): void {
    if (this.#failed.size >= MOST_FAILURES_KEPT) this.#failed.clear()
    this.#failed.add(id)
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

  /** Has it count as used, at most once a day. */
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

  #fileOf(id: FileId, size: number): string {
    return path.join(this.#options.directory, id.slice(0, 2), `${id}-${size}.jpg`)
  }
}

/** Chunks are lent until the next is asked for; a stream asks ahead. */
async function* owned(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  for await (const chunk of chunks) yield Buffer.from(chunk)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
