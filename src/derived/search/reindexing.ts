import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { LibraryPath } from '../../base/paths/index.ts'
import { CoalescedTask } from '../../base/scheduling/index.ts'
import { commitRows } from '../../libraries/commits/index.ts'
import { isGone } from '../../libraries/consumers/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryHeads, libraryRows } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { listKeysOf, removeEntries } from './entry-store.ts'
import { findSearchFaults, type SearchFault } from './index-check.ts'
import { type IndexedEntry, listIndexed } from './indexed-folder.ts'
import {
  deletePosition,
  findPosition,
  listPositions,
  listPositionsBetween,
  type Position,
} from './position-store.ts'
import type { SearchIndex } from './search-index.ts'
import { dropIndex } from './search-schema-store.ts'
import { countPending } from './text-store.ts'

type LibraryHead = Pick<LibraryInfo, 'key' | 'id' | 'head' | 'headSeq'>

const LIBRARIES_PER_PAGE = 500
const KEYS_PER_PAGE = 1000
// Indexed in parallel, so that a large library does not delay the others.
const LIBRARIES_AT_ONCE = 8
// Interval of the scan for libraries that another node left behind, or that were deleted and restored.
const LOOK_AGAIN_MS = 300_000
// Libraries sampled for the lag metric.
const MAX_DATED = 20

/** The lag of the index. */
export interface SearchLag {
  readonly commits: number
  /** Age of the oldest commit that is not indexed. */
  readonly seconds: number
  /** Files queued for text extraction. */
  readonly waitingTexts: number
  readonly failedTexts: number
}

/** Finds libraries that the index lags behind, and purged ones that it still contains. */
export class Reindexing {
  readonly #core: LibraryCore
  readonly #libraryDb: Database
  readonly #db: Database
  readonly #index: SearchIndex
  readonly #isExtractable: (name: string) => boolean
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  readonly #looking = new CoalescedTask(() => this.#look())
  #stopped = false
  readonly #forgetting = new Set<Promise<void>>()

  constructor(parts: {
    core: LibraryCore
    libraryDb: Database
    db: Database
    index: SearchIndex
    isExtractable: (name: string) => boolean
    onError: (error: unknown) => void
  }) {
    this.#core = parts.core
    this.#libraryDb = parts.libraryDb
    this.#db = parts.db
    this.#index = parts.index
    this.#isExtractable = parts.isExtractable
    this.#onError = parts.onError
  }

  /** Runs now and periodically. */
  start(): void {
    const look = () => void this.look().catch((error: unknown) => this.#tell(error))
    look()
    this.#timer = setInterval(look, LOOK_AGAIN_MS).unref()
  }

  /** Brings the index up to date with all libraries as of the call, and removes purged ones. */
  look(): Promise<void> {
    return this.#looking.run()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#looking.ended()
    await Promise.all(this.#forgetting)
  }

  /** Rebuilds the index. `onLibrary` is called after each library, with the reason if it could not be indexed. The others are. */
  async rebuild(
    onLibrary: (library: LibraryInfo, failure?: { readonly reason: unknown }) => void,
  ): Promise<void> {
    await this.#index.prepare()
    await dropIndex(this.#db)
    this.#index.forget()
    for await (const { head } of this.#heads()) {
      const library = await libraryRows.findByKey(this.#libraryDb, head.key)
      if (library === undefined) continue
      try {
        await this.#index.catchUp(library)
        onLibrary(library)
      } catch (error) {
        if (!isGone(error)) onLibrary(library, { reason: error })
      }
    }
  }

  /** What the index of a library has wrong, compared with its head. */
  async *faultsOf(library: LibraryInfo): AsyncGenerator<SearchFault, void> {
    await this.#index.prepare()
    if (await this.#index.isTooLarge(library)) return
    const { objects } = storesOf(this.#core)
    const isExtractable = this.#isExtractable
    yield* findSearchFaults({ libraryDb: this.#libraryDb, db: this.#db, objects, isExtractable }, library)
  }

  /** The entries of a folder as they are indexed; undefined if it is not. */
  async indexedEntries(library: LibraryInfo, folder: LibraryPath): Promise<IndexedEntry[] | undefined> {
    await this.#index.prepare()
    return listIndexed(this.#db, library.key, folder)
  }

  /** Rebuilds the index of one library. */
  async rebuildLibrary(library: LibraryInfo): Promise<void> {
    await this.#index.prepare()
    const position = await findPosition(this.#db, library.key)
    if (position !== undefined) await this.#index.reset(position)
    this.#index.forget(library.key)
    await this.#index.catchUp(library)
  }

  async lag(): Promise<SearchLag> {
    await this.#index.prepare()
    let commits = 0
    let seconds = 0
    let dated = 0
    for await (const { head, position } of this.#heads()) {
      const behind = head.headSeq - (position?.seq ?? 0)
      if (behind <= 0) continue
      commits += behind
      if (dated++ >= MAX_DATED) continue
      const seq = (position?.seq ?? 0) + 1
      const [commit] = await commitRows.listDown(this.#libraryDb, head, seq, seq)
      if (commit !== undefined) seconds = Math.max(seconds, this.#core.now() - commit.ctime)
    }
    const { waiting, failed } = await countPending(this.#db)
    return { commits, seconds, waitingTexts: waiting, failedTexts: failed }
  }

  async #look(): Promise<void> {
    await this.#index.prepare()
    await this.#forgetPurged()
    const checking = new Set<Promise<void>>()
    for await (const { head, position } of this.#heads()) {
      // A damaged library must not block the others.
      const check = this.#check(head, position)
        .catch((error: unknown) => this.#tell(error))
        .finally(() => checking.delete(check))
      checking.add(check)
      if (checking.size >= LIBRARIES_AT_ONCE) await Promise.race(checking)
    }
    await Promise.all(checking)
  }

  #tell(error: unknown): void {
    if (!this.#stopped && !isGone(error)) this.#onError(error)
  }

  async #check(head: LibraryHead, position: Position | undefined): Promise<void> {
    const isAhead = position !== undefined && position.seq > head.headSeq
    const isOther = position?.seq === head.headSeq && position.commitId !== head.head
    // The database was restored from a backup, the index was not.
    if (position !== undefined && (isAhead || isOther)) await this.#index.reset(position)
    else if ((position?.seq ?? 0) >= head.headSeq) return
    const library = await libraryRows.findByKey(this.#libraryDb, head.key)
    // Another process may have dropped the tables.
    this.#index.forget(head.key)
    if (library !== undefined && !this.#stopped) await this.#index.catchUp(library)
  }

  /** All libraries that are not deleted, with the position of the index. */
  async *#heads(): AsyncGenerator<{ head: LibraryHead; position: Position | undefined }> {
    for (let after = 0; !this.#stopped; ) {
      const heads = await libraryHeads.list(this.#libraryDb, after, LIBRARIES_PER_PAGE)
      const last = heads.at(-1)
      if (last === undefined) return
      const known = await listPositionsBetween(this.#db, after, last.key)
      const positions = new Map(known.map((position) => [position.libraryKey, position]))
      for (const head of heads) yield { head, position: positions.get(head.key) }
      after = last.key
      await yieldToEventLoop()
    }
  }

  /** Removes a purged library from the index, once no step is running. */
  forgetLibrary(libraryKey: number): void {
    const forgetting = this.#forgetLibrary(libraryKey).finally(() => this.#forgetting.delete(forgetting))
    this.#forgetting.add(forgetting)
  }

  async #forgetLibrary(libraryKey: number): Promise<void> {
    try {
      await this.#index.prepare()
      await this.#index.ended(libraryKey)
      if (!this.#stopped) await this.#forget(libraryKey)
      this.#index.forget(libraryKey)
    } catch (error) {
      // The next run finds the rest.
      this.#tell(error)
    }
  }

  async #forgetPurged(): Promise<void> {
    for (let after = 0; !this.#stopped; ) {
      const page = await listPositions(this.#db, after, LIBRARIES_PER_PAGE)
      const last = page.at(-1)
      if (last === undefined) return
      const there = new Set(await libraryRows.listKeys(this.#libraryDb, after, last.libraryKey))
      for (const { libraryKey } of page) if (!there.has(libraryKey)) await this.#forget(libraryKey)
      after = last.libraryKey
    }
  }

  async #forget(libraryKey: number): Promise<void> {
    while (!this.#stopped) {
      const keys = await listKeysOf(this.#db, libraryKey, KEYS_PER_PAGE)
      await this.#db.write(
        async (tx) => {
          if (keys.length > 0) await removeEntries(tx, this.#db.dialect, keys)
          else await deletePosition(tx, libraryKey)
        },
        { durable: false },
      )
      if (keys.length === 0) return
    }
  }
}
