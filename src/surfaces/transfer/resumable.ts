import { rm } from 'node:fs/promises'
import { KeyedMutex } from '../../base/scheduling/index.ts'
import {
  blockRows,
  type Content,
  type DataKey,
  damagedBlocks,
  PendingBlocks,
  type StagedBlock,
  type StagedChunk,
  stagedBlockRows,
  stagedContent,
} from '../../libraries/content/index.ts'
import type { IncomingContent, Ready } from '../../libraries/library/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { BlockDamaged, BlockMissing } from '../../platform/storage/index.ts'
import { type Guest, type PartialUpload, partialUploads, type UploadKey } from '../../sharing/quotas/index.ts'
import { type ChunkRange, invalidRange } from './upload-range.ts'

// Other nodes may change the upload between the reading and the recording of its state. Each attempt means that another one succeeded.
const MAX_ATTEMPTS = 5

/** A completely received file. */
export interface WholeFile {
  readonly content: Content
  /** Its bytes, in order. */
  read(): AsyncIterable<Buffer>
  /** Names the blocks of the last chunk (I1). */
  readonly ready: Ready
  /** Ends the resumable upload, in the transaction of the commit. Throws a refusal if another request changed it meanwhile. */
  settle(tx: Transaction): Promise<void>
}

/** The owner of an upload, and the check whether it may store more. */
interface UploadCheck {
  readonly guest: Guest
  /** The key of an encrypted library. */
  readonly dataKey: DataKey | undefined
  /** Asked before the blocks of a chunk get names, with the bytes and uploads that it adds. Throws as `check`. */
  refuse(bytes: number, uploads: number): Promise<void>
  /** Runs in the transaction that records the chunk. Throws quota-exceeded, too-many-uploads. */
  check(tx: Transaction): Promise<void>
}

/** A received chunk. Disposing discards the blocks that were not kept. */
export class ReceivedChunk implements AsyncDisposable {
  /** The state of the upload that the chunk continues; undefined if it was received by itself. */
  readonly upload: PartialUpload | undefined
  readonly staged: StagedChunk
  readonly #pending = new PendingBlocks()

  constructor(upload: PartialUpload | undefined, staged: StagedChunk) {
    this.upload = upload
    this.staged = staged
    this.#pending.add(staged.taken)
  }

  continues(upload: PartialUpload | undefined): boolean {
    return this.upload?.key === upload?.key && this.upload?.version === upload?.version
  }

  get keptBytes(): number {
    return this.#pending.keptBytes
  }

  /** Resolves when the blocks are durable (I4). */
  keep(): Promise<void> {
    return this.#pending.keep()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pending[Symbol.asyncDispose]()
  }
}

/**
 * Resumable uploads: files that arrive in chunks over many requests, each at any node. A chunk is cut into the blocks of the file while it
 * arrives. They are listed with the upload once they are durable, so an aborted request changes nothing.
 */
export class PartialUploads {
  readonly #db: Database
  readonly #content: IncomingContent
  /** Where earlier versions kept chunks. */
  readonly #formerFolder: string
  readonly #now: () => number
  readonly #mutex = new KeyedMutex()

  constructor(db: Database, content: IncomingContent, formerFolder: string, now: () => number) {
    this.#db = db
    this.#content = content
    this.#formerFolder = formerFolder
    this.#now = now
  }

  /** Removes the chunks of earlier versions. Called once, at the start. */
  async prepare(): Promise<void> {
    await rm(this.#formerFolder, { recursive: true, force: true })
  }

  /** How many bytes of a file are stored. */
  async uploadedBytes(key: UploadKey): Promise<number> {
    return (await this.#find(key))?.received ?? 0
  }

  /**
   * Receives the bytes of a chunk. `key` is the upload it probably belongs to; undefined if that is not known yet. Throws what the source throws,
   * and a refusal if stored bytes are lost.
   */
  async receive(
    key: UploadKey | undefined,
    range: ChunkRange,
    source: AsyncIterable<Buffer>,
    dataKey: DataKey | undefined,
  ): Promise<ReceivedChunk> {
    const stored = key === undefined || range.start === 0 ? undefined : await this.#find(key)
    const isContinued = stored?.total === range.total && range.start <= stored.received
    return this.#stage(isContinued ? stored : undefined, range, source, dataKey)
  }

  /**
   * Adds a chunk, and resolves once it is durable (I4). The last chunk calls `finish` with the whole file. If that throws, the earlier
   * chunks are kept and this one may be sent again. A chunk at offset 0 starts over. Throws a refusal for a chunk that does not continue the stored bytes.
   */
  add<T>(
    key: UploadKey,
    range: ChunkRange,
    chunk: ReceivedChunk,
    upload: UploadCheck,
    finish: (file: WholeFile) => Promise<T>,
  ): Promise<T | undefined> {
    const { libraryKey, accountKey, linkKey, visitor = '', path } = key
    return this.#mutex.run(`${libraryKey}/${accountKey}/${linkKey}/${visitor}${path}`, async () => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const stored = range.start === 0 ? undefined : await this.#findContinued(key, range)
        if (range.end < range.total) await this.#refuse(key, range, stored, upload)
        if (chunk.continues(stored)) {
          if (range.end === range.total) return this.#finish(key, range, chunk, upload, finish)
          if (await this.#record(key, range, chunk, upload)) return undefined
        } else {
          await using again = await this.#stageAgain(chunk, stored, range, upload.dataKey)
          // Recorded by itself, a chunk in the middle of a file would replace the stored ones before it.
          if (!again.continues(stored)) continue
          if (range.end === range.total) return await this.#finish(key, range, again, upload, finish)
          if (await this.#record(key, range, again, upload)) return undefined
        }
      }
      throw invalidRange()
    })
  }

  async #refuse(
    key: UploadKey,
    { end }: ChunkRange,
    stored: PartialUpload | undefined,
    upload: UploadCheck,
  ): Promise<void> {
    const replaced = stored ?? (await partialUploads.find(this.#db, key))
    const more = end - (replaced?.received ?? 0)
    if (more > 0) await upload.refuse(more, replaced === undefined ? 1 : 0)
  }

  /** The state of an upload. One with a block that is known to be lost is deleted, so that its client starts over. */
  async #find(key: UploadKey): Promise<PartialUpload | undefined> {
    const stored = await partialUploads.find(this.#db, key)
    if (stored === undefined || !(await damagedBlocks.hasStaged(this.#db, stored.key))) return stored
    await this.#db.write((tx) => partialUploads.delete(tx, stored))
    return undefined
  }

  /** The stored bytes that a chunk continues. Throws a refusal; the stored bytes are discarded if they belong to another file. */
  async #findContinued(key: UploadKey, { start, total }: ChunkRange): Promise<PartialUpload> {
    const stored = await this.#find(key)
    if (stored === undefined) throw invalidRange()
    if (stored.total !== total) await this.#db.write((tx) => partialUploads.delete(tx, stored))
    if (stored.total !== total || start > stored.received) throw invalidRange()
    return stored
  }

  async #stage(
    upload: PartialUpload | undefined,
    range: ChunkRange,
    source: AsyncIterable<Buffer>,
    dataKey: DataKey | undefined,
  ): Promise<ReceivedChunk> {
    const blocks = upload === undefined ? [] : await stagedBlockRows.listAt(this.#db, upload.key, range.start)
    // Another request may change the upload between the two reads. The chunk is then received by itself.
    const continued = upload !== undefined && areContiguous(blocks, upload.received) ? upload : undefined
    try {
      const earlier = continued === undefined ? [] : blocks
      return new ReceivedChunk(continued, await this.#content.stage(range, earlier, source, dataKey))
    } catch (error) {
      const isLost = error instanceof BlockMissing || error instanceof BlockDamaged
      if (continued === undefined || !isLost) throw error
      await this.#db.write((tx) => partialUploads.delete(tx, continued))
      throw invalidRange()
    }
  }

  /** The bytes of a received chunk once more, continuing another state of the upload. */
  async #stageAgain(
    chunk: ReceivedChunk,
    stored: PartialUpload | undefined,
    range: ChunkRange,
    dataKey: DataKey | undefined,
  ): Promise<ReceivedChunk> {
    await chunk.keep()
    const { blocks, small } = chunk.staged
    return this.#stage(stored, range, this.#content.readStaged(blocks, range, small, dataKey), dataKey)
  }

  /** False if another request changed the upload. */
  async #record(
    key: UploadKey,
    { end, total }: ChunkRange,
    chunk: ReceivedChunk,
    owner: UploadCheck,
  ): Promise<boolean> {
    await chunk.keep()
    const { upload, staged } = chunk
    return this.#db.write(async (tx) => {
      const now = this.#now()
      const uploadKey =
        upload === undefined
          ? await partialUploads.put(tx, key, { total, received: end, guest: owner.guest }, now)
          : (await partialUploads.setReceived(tx, upload, Math.max(upload.received, end), now)) && upload.key
      if (typeof uploadKey !== 'number') return false
      await blockRows.insertSmall(tx, staged.small)
      await stagedBlockRows.replace(tx, uploadKey, staged.from, staged.blocks)
      await owner.check(tx)
      return true
    })
  }

  async #finish<T>(
    key: UploadKey,
    { total }: ChunkRange,
    chunk: ReceivedChunk,
    { dataKey }: UploadCheck,
    finish: (file: WholeFile) => Promise<T>,
  ): Promise<T> {
    const { upload, staged } = chunk
    const before =
      upload === undefined ? [] : await stagedBlockRows.listBefore(this.#db, upload.key, staged.from)
    const blocks = [...before, ...staged.blocks]
    if (blocks[0]?.offset !== 0 || !areContiguous(blocks, total)) throw invalidRange()
    let settled = false
    const settle = async (tx: Transaction) => {
      settled = true
      if (upload === undefined) await partialUploads.deleteAt(tx, key)
      else if (!(await partialUploads.delete(tx, upload))) throw invalidRange()
    }
    const content = stagedContent(blocks, staged.small)
    const read = () =>
      this.#content.readStaged(blocks, { start: 0, end: content.size }, staged.small, dataKey)
    const result = await finish({ content, read, settle, ready: () => chunk.keep() })
    // Unchanged content creates no commit to join.
    if (!settled) await this.#db.write(settle)
    return result
  }
}

/** Whether blocks follow each other without a gap up to `end`. */
function areContiguous(blocks: readonly StagedBlock[], end: number): boolean {
  let position = blocks[0]?.offset
  for (const { offset, length } of blocks) {
    if (offset !== position) return false
    position = offset + length
  }
  return position === end
}
