import type { BlockId, Commit, CommitId, DirId, FileId, FsId } from '../../base/objects/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { NumberedCommit } from '../commits/index.ts'
import type { Content, ContentStore, StoredBytes, TakenBlock } from '../content/index.ts'
import { storesOf } from '../library/for-operations.ts'
import type { EditableLibrary, Library, LibraryCore } from '../library/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { BlockIntake } from './block-intake.ts'
import { blockSizes, contentOfBlocks, holdBlocks, missingBlocks } from './block-upload.ts'
import { LargeObjects } from './large-objects.ts'
import { listObjects, packObjects } from './object-listing.ts'
import { push, type QuotaReservation, receiveCommit, refuseIfRestored } from './push.ts'
import type { PushStores } from './push-stores.ts'
import { missingObjects, ObjectIntake } from './receive-objects.ts'
import { findVisibleCommit, markVisible, recordHead, visibleAmong } from './sync-visibility.ts'
import { Uncommitted, type UncommittedAllowance } from './uncommitted.ts'

interface ClientPushOptions {
  readonly core: LibraryCore
  readonly db: Database
  /** Limits uncommitted bytes. Unlimited by default. */
  readonly allowance?: UncommittedAllowance
}

/**
 * Pushes of sync clients: they send blocks, objects and commits, then request that the commit becomes the
 * head. Implemented by the other files of this module.
 */
export class ClientPush implements AsyncDisposable {
  readonly #stores: PushStores
  readonly #content: ContentStore
  readonly #blockIntake: BlockIntake

  constructor({ core, db, allowance }: ClientPushOptions) {
    const { now, growth, pathBindings } = core
    const { objects, content } = storesOf(core)
    const uncommitted = new Uncommitted(db, allowance)
    const largeObjects = new LargeObjects()
    this.#stores = { core, db, now, objects, growth, uncommitted, largeObjects, pathBindings }
    this.#content = content
    this.#blockIntake = new BlockIntake(db, content, uncommitted, now)
  }

  findCommit({ info }: Library, id: CommitId): Promise<NumberedCommit | undefined> {
    return findVisibleCommit(this.#stores, info, id)
  }

  /** The last commit that a client synced; undefined if its history was given up meanwhile. Throws client-ahead. */
  async findClientHead({ info }: Library, id: CommitId): Promise<NumberedCommit | undefined> {
    const known = await findVisibleCommit(this.#stores, info, id)
    if (known === undefined) await refuseIfRestored(this.#stores, info)
    return known
  }

  recordHead({ info }: Library): Promise<void> {
    return recordHead(this.#stores, info)
  }

  markVisible({ info }: Library, ids: readonly string[]): Promise<void> {
    return markVisible(this.#stores, info, ids)
  }

  visibleAmong<T extends string>({ info }: Library, ids: readonly T[]): Promise<ReadonlySet<T>> {
    return visibleAmong(this.#stores, info, ids)
  }

  /** A block that clients of the library may read. Synchronous where no query is needed. */
  findBlock({ info }: Library, id: BlockId): StoredBytes | undefined | Promise<StoredBytes | undefined> {
    if (info.sub === undefined) return this.#content.findBlock(info.key, id)
    return this.#findShownBlock(info, id)
  }

  async #findShownBlock(library: LibraryInfo, id: BlockId): Promise<StoredBytes | undefined> {
    const isShown = (await visibleAmong(this.#stores, library, [id])).has(id)
    return isShown ? this.#content.findBlock(library.key, id) : undefined
  }

  receiveCommit(library: EditableLibrary, sent: Commit): Promise<void> {
    return receiveCommit(this.#stores, library, sent)
  }

  push(
    library: EditableLibrary,
    id: CommitId,
    reserve: (bytes: number) => Promise<QuotaReservation>,
  ): Promise<void> {
    return push(this.#stores, library, id, reserve)
  }

  listObjects(
    library: Library,
    root: DirId,
    known: DirId,
    options: { dirsOnly: boolean },
  ): AsyncGenerator<FsId[], void> {
    return listObjects(this.#stores, library, root, known, options)
  }

  packObjects(library: Library, ids: readonly FsId[], enough: number): Promise<Buffer> {
    return packObjects(this.#stores, library, ids, enough)
  }

  missingObjects(library: Library, ids: readonly FsId[]): Promise<FsId[]> {
    return missingObjects(this.#stores, library, ids)
  }

  receiveObjects(library: EditableLibrary): ObjectIntake {
    return new ObjectIntake(this.#stores, library)
  }

  missingBlocks(library: Library, ids: readonly BlockId[]): Promise<BlockId[]> {
    return missingBlocks(this.#stores, library, ids)
  }

  blockSizes(library: Library, id: FileId): Promise<number[] | undefined> {
    return blockSizes(this.#stores, library, id)
  }

  /** See `BlockIntake.put`. */
  putBlock(library: EditableLibrary, id: BlockId, bytes: Buffer): Promise<void> {
    return this.#blockIntake.put(library, id, bytes)
  }

  /** See `BlockIntake.receive`. */
  receiveBlock(library: EditableLibrary, id: BlockId, source: AsyncIterable<Buffer>): Promise<void> {
    return this.#blockIntake.receive(library, id, source)
  }

  holdBlocks(library: EditableLibrary, taken: readonly TakenBlock[]): Promise<void> {
    return holdBlocks(this.#stores, library, taken)
  }

  contentOfBlocks(library: Library, ids: readonly BlockId[], size: number): Promise<Content> {
    return contentOfBlocks(this.#stores, library, ids, size)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stores.largeObjects[Symbol.asyncDispose]()
  }
}
