import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { CoalescedTask } from '../../base/scheduling/index.ts'
import { isGone } from '../../libraries/consumers/index.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryHeads, libraryRows } from '../../libraries/registry/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Images } from '../../platform/imaging/index.ts'
import type { Access } from '../../sharing/access/index.ts'
import { correctDates, type DateChange } from './correct-dates.ts'
import { DetailsQueue } from './details-queue.ts'
import { PhotoIndex } from './photo-index.ts'
import { listBehind } from './photo-store.ts'
import { Timeline } from './timeline.ts'

const LIBRARIES_PER_PAGE = 500
// Interval of the scan for libraries that another process left behind.
const LOOK_AGAIN_MS = 300_000

interface PhotosOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly access: Access
  readonly images: Images
  readonly onError: (error: unknown) => void
}

/** The timeline of photos, and the index it is read from (I3). */
export class Photos implements AsyncDisposable {
  readonly #options: PhotosOptions
  readonly #index: PhotoIndex
  readonly #details: DetailsQueue
  readonly timeline: Timeline
  #timer: NodeJS.Timeout | undefined
  readonly #looking = new CoalescedTask(() => this.#look())
  #stopped = false

  constructor(options: PhotosOptions) {
    const { core, db, access } = options
    this.#options = options
    this.#details = new DetailsQueue(options)
    this.#index = new PhotoIndex({ core, db, onPending: () => this.#details.wake() })
    this.timeline = new Timeline(core, db, access, this.#index)
  }

  /** Starts indexing past and future changes. */
  start(): void {
    const { core, onError } = this.#options
    this.#index.start()
    core.events.onEvent(({ kind, library }) => {
      // Indexing stopped when it was deleted.
      if (kind === 'restored') core.commitConsumer.wake(library)
    })
    const look = () =>
      void this.look().catch((error: unknown) => {
        if (!this.#stopped) onError(error)
      })
    look()
    this.#timer = setInterval(look, LOOK_AGAIN_MS).unref()
    this.#details.wake()
  }

  /** Indexes the libraries that the index lags behind, as of the call. */
  look(): Promise<void> {
    return this.#looking.run()
  }

  /** Resolves once the photos of all commits so far are indexed, and none is due to be read. */
  async settled(): Promise<void> {
    await this.#look()
    await this.#details.settled()
  }

  /**
   * Rebuilds the index of all libraries, with everything that is read from files. `onLibrary` is called after each library, with the reason if it
   * could not be indexed. The others are.
   */
  async rebuild(
    onLibrary: (library: LibraryInfo, failure?: { readonly reason: unknown }) => void,
  ): Promise<void> {
    for (let after = 0; ; ) {
      const heads = await libraryHeads.list(this.#options.db, after, LIBRARIES_PER_PAGE)
      for (const { key } of heads) {
        const library = await libraryRows.findByKey(this.#options.db, key)
        if (library === undefined) continue
        try {
          await this.#index.rebuild(library).catch(ignoreGone)
          onLibrary(library)
        } catch (error) {
          onLibrary(library, { reason: error })
        }
      }
      after = heads.at(-1)?.key ?? 0
      if (after === 0) break
    }
    await this.#details.settled()
  }

  /** See `correctDates`. */
  correctDates(changes: readonly DateChange[]): Promise<(number | undefined)[]> {
    return correctDates(this.#options.db, changes)
  }

  /** Rows of the index of a library that are not as its head says. */
  faultsOf(library: LibraryInfo): AsyncIterable<{ readonly path: string; readonly reason: string }> {
    return this.#index.faultsOf(library)
  }

  /** Rebuilds the index of one library. What is read from files follows. */
  async rebuildLibrary(library: LibraryInfo): Promise<void> {
    await this.#index.rebuild(library)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#index.stop()
    await this.#looking.ended()
    await this.#details.stop()
  }

  /** Indexes the libraries whose photos are not those of the head, one after another. */
  async #look(): Promise<void> {
    const { db } = this.#options
    for (let after = 0; ; ) {
      const keys = await listBehind(db, { after, limit: LIBRARIES_PER_PAGE })
      for (const key of keys) {
        if (this.#stopped) return
        const library = await libraryRows.findByKey(db, key)
        if (library !== undefined) await this.#index.catchUp(library).catch(ignoreGone)
        await yieldToEventLoop()
      }
      const last = keys.at(-1)
      if (last === undefined) return
      after = last
    }
  }
}

function ignoreGone(error: unknown): void {
  if (!isGone(error)) throw error
}
