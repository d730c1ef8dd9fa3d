import type { Database } from '../database/database.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { BlockStore } from '../storage/block-store.ts'
import { BlockIntake } from './block-intake.ts'
import { ContentStore } from './content.ts'
import { LargeObjects } from './large-objects.ts'
import type { LibraryInfo } from './library-info.ts'
import { ObjectStore } from './object-store.ts'
import { PathIndex } from './path-index.ts'
import { Writers } from './writer.ts'

export interface CoreOptions {
  readonly db: Database
  readonly blocks: BlockStore
  /** Unix seconds. */
  readonly now: () => number
  /** Bytes of decoded dirs kept in memory. */
  readonly dirCacheBytes: number
  /** Days of history a library keeps unless it says otherwise; negative keeps all. */
  readonly defaultHistoryDays: number
  /** Called when a background follower fails; the next request that needs it tries again. */
  readonly onFollowError: (error: unknown) => void
}

/** What the parts of the library room share. */
export interface LibraryCore extends AsyncDisposable {
  readonly db: Database
  readonly now: () => number
  readonly objects: ObjectStore
  readonly content: ContentStore
  readonly blockIntake: BlockIntake
  readonly largeObjects: LargeObjects
  readonly writers: Writers
  readonly pathIndex: PathIndex
  /** Calls `listener` for each library whose head this process moved, after it moved; what follows commits hangs here. */
  onHeadMoved(listener: (library: LibraryInfo) => void): void
  /** Calls `listener` when a file was locked or unlocked by a user of this process. */
  onLockChanged(listener: (change: LockChange) => void): void
  readonly lockChanged: (change: LockChange) => void
  readonly defaultHistoryDays: number
}

/** A file that was locked or unlocked. */
export interface LockChange {
  readonly library: LibraryInfo
  readonly path: LibraryPath
  readonly isLocked: boolean
  /** The account that did it. */
  readonly by: string
}

export function createLibraryCore(options: CoreOptions): LibraryCore {
  const { db, now } = options
  const objects = new ObjectStore(db, options.dirCacheBytes)
  const content = new ContentStore(db, options.blocks, objects)
  const pathIndex = new PathIndex(db, objects, options.onFollowError)
  const listeners = [(library: LibraryInfo) => pathIndex.wake(library)]
  const largeObjects = new LargeObjects()
  const lockListeners: ((change: LockChange) => void)[] = []
  const writers = new Writers(db, objects, now, (library: LibraryInfo) => {
    for (const listener of listeners) listener(library)
  })
  return {
    db,
    now,
    objects,
    content,
    blockIntake: new BlockIntake(db, content),
    largeObjects,
    writers,
    pathIndex,
    onHeadMoved: (listener) => void listeners.push(listener),
    onLockChanged: (listener) => void lockListeners.push(listener),
    lockChanged: (change) => {
      for (const listener of lockListeners) listener(change)
    },
    defaultHistoryDays: options.defaultHistoryDays,
    async [Symbol.asyncDispose]() {
      await writers.idle()
      await pathIndex.stop()
      await largeObjects[Symbol.asyncDispose]()
    },
  }
}
