import type { FileHandle } from 'node:fs/promises'
import {
  deletePartialUpload,
  findPartialUpload,
  type Guest,
  listPartialFiles,
  type PartialUpload,
  putPartialUpload,
  setReceived,
  type UploadKey,
} from '../access/index.ts'
import type { DataKey } from '../content/index.ts'
import type { Database, Transaction } from '../database/index.ts'
import { KeyedMutex } from '../scheduling/index.ts'
import { addTo, type ChunkFile, piecesOf, UploadFolder } from './resumable-files.ts'
import { type ChunkRange, invalidRange } from './upload-range.ts'

// Minimum age of a file without an upload and without a writing request before it is removed as abandoned.
const STRAY_SECONDS = 600

/** A completely received file. */
export interface WholeFile {
  readonly content: AsyncIterable<Buffer>
  /** Ends the resumable upload, in the transaction of the commit. */
  settle(tx: Transaction): Promise<void>
}

/** The owner of an upload, and the check whether it may store more. */
interface UploadCheck {
  readonly guest: Guest
  /** Runs in the transaction that records the chunk. Throws quota-exceeded, too-many-uploads. */
  check(tx: Transaction): Promise<void>
}

/**
 * Resumable uploads: files that arrive in chunks over many requests. A chunk is received into its own file first
 * and appended when it is complete, so an aborted request changes nothing.
 */
export class PartialUploads {
  readonly #db: Database
  readonly #folder: UploadFolder
  readonly #now: () => number
  readonly #mutex = new KeyedMutex()

  private constructor(db: Database, folder: UploadFolder, now: () => number) {
    this.#db = db
    this.#folder = folder
    this.#now = now
  }

  static create(db: Database, directory: string, now: () => number): PartialUploads {
    return new PartialUploads(db, new UploadFolder(directory), now)
  }

  /** Creates the folder and removes leftovers of a crash. Called once, before the first chunk. */
  async prepare(): Promise<void> {
    await this.#folder.prepare()
    await this.#removeStray(Number.POSITIVE_INFINITY)
  }

  /** How many bytes of a file are stored. */
  async uploadedBytes(key: UploadKey): Promise<number> {
    return (await findPartialUpload(this.#db, key))?.received ?? 0
  }

  /** A file to receive a chunk into; encrypted if the library is. */
  newChunk(key: DataKey | undefined): Promise<ChunkFile> {
    return this.#folder.create(key)
  }

  /**
   * Adds a chunk, and resolves once it is durable (I4). The last chunk calls `finish` with
   * the whole file. If that throws, the earlier chunks are kept and this one may be sent again. A chunk at
   * offset 0 starts over. Throws a refusal for a chunk that does not continue the stored bytes.
   */
  add<T>(
    key: UploadKey,
    range: ChunkRange,
    chunk: ChunkFile,
    upload: UploadCheck,
    finish: (file: WholeFile) => Promise<T>,
  ): Promise<T | undefined> {
    const { libraryKey, accountKey, linkKey, visitor = '', path } = key
    return this.#mutex.run(`${libraryKey}/${accountKey}/${linkKey}/${visitor}${path}`, async () => {
      const stored = await findPartialUpload(this.#db, key)
      if (range.start === 0) return this.#begin(key, range, { chunk, older: stored, upload, finish })
      const handle = stored && (await this.#openFor(key, stored, range))
      if (stored === undefined || handle === undefined) throw invalidRange()
      try {
        return await this.#goOn(key, range, { chunk, stored, handle, upload, finish })
      } finally {
        await handle.close()
      }
    })
  }

  /** Removes the files of abandoned uploads, whose rows are gone. */
  async discard(files: readonly string[]): Promise<void> {
    for (const file of files) await this.#forget(file)
  }

  /** Maintenance: removes files without an upload, such as those of a purged library. */
  async deleteStray(): Promise<void> {
    await this.#removeStray(Date.now() / 1000 - STRAY_SECONDS)
  }

  async #begin<T>(
    key: UploadKey,
    { end, total }: ChunkRange,
    parts: {
      chunk: ChunkFile
      older: PartialUpload | undefined
      upload: UploadCheck
      finish: (file: WholeFile) => Promise<T>
    },
  ): Promise<T | undefined> {
    const { chunk, older, upload, finish } = parts
    let result: T | undefined
    if (end === total)
      result = await this.#finish(key, piecesOf(chunk.handle, total, chunk.coverOf(chunk.name)), finish)
    else {
      await chunk.handle.datasync()
      await this.#folder.sync()
      const begun = { file: chunk.name, total, received: end, guest: upload.guest }
      await this.#db.write(async (tx) => {
        await putPartialUpload(tx, key, begun, this.#now())
        await upload.check(tx)
      })
      chunk.keep()
    }
    if (older !== undefined) await this.#forget(older.file)
    return result
  }

  async #goOn<T>(
    key: UploadKey,
    { start, end, total }: ChunkRange,
    parts: {
      chunk: ChunkFile
      stored: PartialUpload
      handle: FileHandle
      upload: UploadCheck
      finish: (file: WholeFile) => Promise<T>
    },
  ): Promise<T | undefined> {
    const { chunk, stored, handle, upload, finish } = parts
    const cover = chunk.coverOf(stored.file)
    await addTo({ handle, cover }, start, chunk, end - start)
    if (end === total) {
      const result = await this.#finish(key, piecesOf(handle, total, cover), finish)
      await this.#forget(stored.file)
      return result
    }
    await handle.datasync()
    const received = Math.max(stored.received, end)
    const isSame = await this.#db.write(async (tx) => {
      const isSame = await setReceived(tx, key, { file: stored.file, received }, this.#now())
      if (isSame) await upload.check(tx)
      return isSame
    })
    if (!isSame) throw invalidRange()
    return undefined
  }

  async #finish<T>(
    key: UploadKey,
    content: AsyncIterable<Buffer>,
    finish: (file: WholeFile) => Promise<T>,
  ): Promise<T> {
    let settled = false
    const settle = async (tx: Transaction) => {
      settled = true
      await deletePartialUpload(tx, key)
    }
    const result = await finish({ content, settle })
    // Unchanged content creates no commit to join.
    if (!settled) await this.#db.write((tx) => deletePartialUpload(tx, key))
    return result
  }

  /** Removes the file of an upload whose row is gone. A failed removal is repeated at the next start. */
  async #forget(file: string): Promise<void> {
    await this.#folder.remove(file).catch(() => {})
  }

  /** The file a chunk is appended to; undefined, with the stored bytes discarded, if it belongs to another file. */
  async #openFor(
    key: UploadKey,
    stored: PartialUpload,
    { start, total }: ChunkRange,
  ): Promise<FileHandle | undefined> {
    const isOther = stored.total !== total
    const handle = isOther ? undefined : await this.#folder.open(stored.file)
    if (handle === undefined) {
      await this.#db.write((tx) => deletePartialUpload(tx, key))
      await this.#forget(stored.file)
    }
    if (start <= stored.received) return handle
    await handle?.close()
    return undefined
  }

  /** Removes files that no upload has, if they were last written before a time. */
  async #removeStray(before: number): Promise<void> {
    const names = await this.#folder.list()
    const known = await listPartialFiles(this.#db)
    for (const name of names) {
      if (known.has(name) || this.#folder.isOpen(name)) continue
      const writtenAt = await this.#folder.writtenAt(name)
      if (writtenAt !== undefined && writtenAt < before) await this.#folder.remove(name)
    }
  }
}
