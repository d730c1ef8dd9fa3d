import { setTimeout as delay } from 'node:timers/promises'
import { type CommitId, EMPTY_ID } from '../../base/objects/index.ts'
import type { NumberedCommit } from '../../libraries/commits/index.ts'
import { type DerivedStep, type ModuleConsumer, refuseDeleted } from '../../libraries/consumers/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { type Change, countDirs, TooManyChanges } from '../../libraries/tree/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Entry } from './entry-store.ts'
import { findPosition, type Position, resetPosition } from './position-store.ts'
import { prepareSchema } from './search-schema-store.ts'
import { StepConflict, StepWriter } from './step-writer.ts'
import { IndexIncomplete, TreeStep } from './tree-step.ts'

const SEARCH_CONSUMER = 'search'

// A lease not renewed for this long belongs to a dead process.
const CLAIM_SECONDS = 60
const LOOK_AGAIN_MS = 200
// More distant trees may be compared again in smaller steps.
const COMMITS_COMPARED = 50

/** The position of a library, with its row unless it has none. */
interface IndexPosition {
  readonly seq: number
  readonly stood: Position | undefined
}

interface SearchIndexOptions {
  readonly core: LibraryCore
  /** The database of libraries and commits. */
  readonly libraryDb: Database
  /** The database of the index. */
  readonly db: Database
  /** Whether text can be extracted from files of this name. */
  readonly isExtractable: (name: string) => boolean
  /** Called when texts are waiting for extraction. */
  readonly onPending: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Consumes the commits of each library and maintains an index of the names in its current tree. Derived data (I3).
 * Renaming or moving a folder changes one row, independent of its size.
 */
export class SearchIndex {
  readonly #options: SearchIndexOptions
  readonly #consumer: ModuleConsumer<IndexPosition>
  readonly #stopping = new AbortController()
  #prepared: Promise<void> | undefined

  constructor(options: SearchIndexOptions) {
    this.#options = options
    this.#consumer = options.core.commitConsumer.add({
      db: options.db,
      name: SEARCH_CONSUMER,
      stopsAtDeletion: true,
      startsLater: true,
      position: (libraryKey) => this.#position(libraryKey),
      step: (library, { stood }, wanted) => this.#step(library, stood, wanted),
    })
  }

  /** Resolves once the tables exist. */
  prepare(): Promise<void> {
    this.#prepared ??= prepareSchema(this.#options.db).catch((error: unknown) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  /** Begins to index new commits in the background. */
  start(): void {
    this.#consumer.start()
  }

  /** Resolves once all commits up to the library's head are indexed. */
  catchUp(library: LibraryInfo): Promise<void> {
    return this.#consumer.catchUp(library)
  }

  /** Makes the next catchUp rebuild the index of a library. */
  async reset(position: Position): Promise<void> {
    await this.#options.db.write((tx) => resetPosition(tx, position), { durable: false })
    this.#consumer.invalidate(position.libraryKey)
  }

  /** Invalidates the cached position, after another process changed the index. */
  forget(libraryKey?: number): void {
    this.#consumer.invalidate(libraryKey)
  }

  /** Resolves when no step of a library is running. */
  ended(libraryKey: number): Promise<void> {
    return this.#consumer.ended(libraryKey)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the server is stopping'))
    await this.#consumer.stop()
  }

  async #position(libraryKey: number): Promise<IndexPosition> {
    await this.prepare()
    const stood = await findPosition(this.#options.db, libraryKey)
    return { seq: stood?.seq ?? 0, stood }
  }

  async #step(
    library: LibraryInfo,
    stood: Position | undefined,
    wanted: number,
  ): Promise<DerivedStep<IndexPosition> | undefined> {
    if (stood !== undefined && stood.claim !== 0) return this.#besideAnother(stood)
    try {
      if (await this.isTooLarge(library)) return await this.#leaveOut(library, stood)
      return stood === undefined || stood.seq === 0
        ? await this.#indexWhole(library, stood)
        : await this.#follow(library, stood, wanted)
    } catch (error) {
      if (error instanceof StepConflict) return undefined
      const isBeyond = error instanceof IndexIncomplete || error instanceof TooManyChanges
      if (!isBeyond || stood === undefined) throw error
      if (error instanceof IndexIncomplete) this.#options.onError(error)
      await this.reset(stood)
      return undefined
    }
  }

  /** Another process is writing a large commit, or died doing so. */
  async #besideAnother(stood: Position): Promise<undefined> {
    if (stood.claimedAt + CLAIM_SECONDS < this.#options.core.now()) await this.reset(stood)
    else await delay(LOOK_AGAIN_MS)
  }

  /** Only created by an older version: entries beyond the limit are now rejected. */
  async isTooLarge({ key, root }: LibraryInfo): Promise<boolean> {
    const { core } = this.#options
    const most = core.growth.limits.library
    if (most === undefined) return false
    const { objects } = storesOf(core)
    const { fileCount, dirCount } = await objects.getDir(key, root)
    return fileCount > most || fileCount + (dirCount ?? (await countDirs(objects, key, root))) > most
  }

  /** Without a commit, so that the library is indexed completely once it is smaller. */
  async #leaveOut(library: LibraryInfo, stood: Position | undefined): Promise<DerivedStep<IndexPosition>> {
    const to = { seq: library.headSeq, id: EMPTY_ID as string as CommitId }
    return this.#write(library, stood, to, (step) => step.clear())
  }

  async #indexWhole(library: LibraryInfo, stood: Position | undefined): Promise<DerivedStep<IndexPosition>> {
    const { headSeq: seq, head: id } = library
    return this.#write(library, stood, { seq, id }, async (step) => {
      await step.clear()
      await step.addTree(library.root)
    })
  }

  async #follow(
    library: LibraryInfo,
    stood: Position,
    wanted: number,
  ): Promise<DerivedStep<IndexPosition> | undefined> {
    const { core } = this.#options
    const commits = await storesOf(core).recentCommits.between(library, stood.seq, wanted)
    const [before, next] = commits
    const rootsOf = (some: readonly NumberedCommit[]) => some.map(({ rootId }) => rootId)
    let changes = await storesOf(core).changes.knownAlong(library.key, rootsOf(commits))
    if (changes === undefined) commits.splice(1 + COMMITS_COMPARED)
    let last = commits.at(-1)
    // The history differs from the indexed one: the database was restored from a backup.
    if (before?.id !== stood.commitId || next === undefined || last === undefined) {
      await this.reset(stood)
      return undefined
    }
    changes ??= await storesOf(core).changes.along(library.key, rootsOf(commits))
    // A folder that was renamed and then changed looks like a deletion and an addition.
    if (last !== next && changes.some(isFolderThatCameOrWent)) {
      last = next
      changes = await storesOf(core).changes.along(library.key, [before.rootId, last.rootId])
    }
    const { rootId } = last
    return this.#write(library, stood, last, (step) => step.apply(changes, rootId))
  }

  async #write(
    library: LibraryInfo,
    stood: Position | undefined,
    to: { readonly seq: number; readonly id: CommitId },
    work: (step: TreeStep) => Promise<void>,
  ): Promise<DerivedStep<IndexPosition>> {
    const { core, db, libraryDb, onPending } = this.#options
    const writer = this.#writer(library, stood)
    const reached = () => ({ seq: to.seq, stood: writer.positionAt(to.seq, to.id) })
    try {
      await work(
        new TreeStep({ db, libraryDb, objects: storesOf(core).objects, libraryKey: library.key, writer }),
      )
      const last = writer.last(to.seq, to.id)
      const onWritten = () => {
        if (writer.hasPending) onPending()
      }
      if (last !== undefined) return { reached: reached(), rows: { ...last, onWritten } }
      await writer.finish(to.seq, to.id)
      onWritten()
      return { reached: reached() }
    } catch (error) {
      await writer.abandon()
      throw error
    }
  }

  #writer(library: LibraryInfo, stood: Position | undefined): StepWriter {
    const { db, libraryDb, core, isExtractable } = this.#options
    const isReadable = library.encryption === undefined
    const { signal } = this.#stopping
    const hasText = (entry: Entry) =>
      isReadable && !entry.isDir && entry.objectId !== EMPTY_ID && isExtractable(entry.name)
    const refuseGone = () => refuseDeleted(libraryDb, library)
    return new StepWriter({ db, libraryKey: library.key, stood, now: core.now, hasText, signal, refuseGone })
  }
}

function isFolderThatCameOrWent({ op, entry }: Change): boolean {
  return (op === 'added' || op === 'deleted') && entry.kind === 'dir' && entry.id !== EMPTY_ID
}
