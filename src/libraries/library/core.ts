import type { BoundarySearch } from '../../base/objects/index.ts'
import { RunningOperations } from '../../base/scheduling/index.ts'
import type { Audit } from '../../people/audit/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import {
  type CommitStatistics,
  type EntryLimits,
  GrowthLimits,
  RecentCommits,
  Writers,
} from '../commits/index.ts'
import { CommitConsumer } from '../consumers/index.ts'
import { ContentStore, LibraryKeys } from '../content/index.ts'
import { type HistoryStores, PathIndex, TrashCounts } from '../history/index.ts'
import type { LibraryDependent, LibraryInfo, PathBinding } from '../registry/index.ts'
import { ObjectStore, TreeChanges } from '../tree/index.ts'
import { Views } from '../views/index.ts'
import { LibraryEvents } from './library-events.ts'
import { LockRights } from './lock-rights.ts'

interface CoreOptions {
  readonly db: Database
  readonly blocks: BlockStore
  readonly audit: Audit
  /** Unix seconds. */
  readonly now: () => number
  /** How files are cut into blocks; `fast` unless given. */
  readonly boundarySearch?: BoundarySearch
  /** Cache size for decoded dirs, in bytes. */
  readonly dirCacheBytes: number
  /** Default number of days of history; negative keeps all. */
  readonly defaultHistoryDays: number
  readonly entryLimits?: EntryLimits
  /** What the keys of encrypted libraries are sealed with. Without it, they are in the memory of this process only. */
  readonly credentials?: Pick<ConstructorParameters<typeof LibraryKeys>[0], 'credentialOf' | 'onSealed'>
  /** The modules with rows that refer to libraries, highest in the import order first. */
  readonly dependents: readonly LibraryDependent[]
  /** The tables with rows that are bound to paths. */
  readonly pathBindings: readonly PathBinding[]
  /** Called when a background consumer fails. The next request that needs it retries. */
  readonly onConsumerError: (error: unknown) => void
}

/** Called with a library after and before its head moved. There may be several commits in between. */
type HeadListener = (library: LibraryInfo, before: LibraryInfo) => void

/**
 * The key of what only this module may use. `index.ts` does not export it: without it nobody has the database, a
 * way to move a head, or the content and history of a library, except through a handle that `access` gave out.
 */
const internals = Symbol('internals of the library core')

interface Internals {
  readonly db: Database
  readonly writers: Writers
  readonly stores: LibraryStores
}

/** What reads any library by its key, without asking who may (`for-operations.ts`, `for-server.ts`). */
interface LibraryStores {
  readonly objects: ObjectStore
  /** Reads the changes of commits. */
  readonly changes: TreeChanges
  readonly recentCommits: RecentCommits
  readonly content: ContentStore
  readonly pathIndex: PathIndex
  readonly history: HistoryStores
  readonly views: Views
}

/** Receives the bytes of uploads, which no library refers to yet, and reads those of unfinished uploads by the rows of their owners. */
export type IncomingContent = Pick<
  ContentStore,
  'receive' | 'receiveBlock' | 'putSmall' | 'stage' | 'readStaged'
>

/** The services of libraries. */
export interface LibraryCore extends AsyncDisposable {
  readonly [internals]: Internals
  readonly now: () => number
  /** Where audited operations write their entries, in their transactions. */
  readonly audit: Audit
  /** What garbage collection must not take away. */
  readonly operations: RunningOperations
  readonly incoming: IncomingContent
  /** The keys of encrypted libraries whose password was given. */
  readonly keys: LibraryKeys
  /** Counts of edits since the start of this process. */
  readonly edits: CommitStatistics
  /** Limits on what commits add. */
  readonly growth: GrowthLimits
  /** Processes new commits for all modules with derived data. */
  readonly commitConsumer: CommitConsumer
  /** Calls `listener` after this process moved the head of a library, with the library as it is now and as it was before. */
  onHeadMoved(listener: HeadListener): void
  /** Changes of libraries without a commit. */
  readonly events: LibraryEvents
  readonly lockRights: LockRights
  readonly dependents: readonly LibraryDependent[]
  readonly pathBindings: readonly PathBinding[]
  readonly defaultHistoryDays: number
}

/** For files of this module. */
export function dbOf(core: LibraryCore): Database {
  return core[internals].db
}

/** For files of this module, and through their own doors for operations on handles and for what the server does for itself. */
export function storesOf(core: LibraryCore): LibraryStores {
  return core[internals].stores
}

/** For files of this module. */
export function writersOf(core: LibraryCore): Writers {
  return core[internals].writers
}

export function createLibraryCore(options: CoreOptions): LibraryCore {
  const { audit, db, now, dependents, defaultHistoryDays } = options
  const keys = new LibraryKeys({ db, now, ...options.credentials })
  const objects = new ObjectStore(db, options.dirCacheBytes)
  const content = new ContentStore(db, options.blocks, objects, now, options.boundarySearch)
  const growth = new GrowthLimits(options.entryLimits)
  const changes = new TreeChanges(objects, growth.limits.commit)
  const recentCommits = new RecentCommits(db)
  const commitConsumer = new CommitConsumer({ db, recentCommits, onError: options.onConsumerError })
  const pathIndex = new PathIndex({ db, objects, changes, recentCommits, commitConsumer })
  const listeners: HeadListener[] = [(library) => commitConsumer.wake(library)]
  const operations = new RunningOperations(now)
  const writers = new Writers({
    db,
    operations,
    objects,
    changes,
    recentCommits,
    growth,
    now,
    onCommitted: (library, before) => {
      for (const listener of listeners) listener(library, before)
    },
  })
  const history = { db, objects, pathIndex, trashCounts: new TrashCounts(), now, defaultHistoryDays }
  const views = new Views({ db, objects })
  return {
    [internals]: {
      db,
      writers,
      stores: { objects, changes, recentCommits, content, pathIndex, history, views },
    },
    audit,
    now,
    operations,
    incoming: content,
    keys,
    edits: writers.statistics,
    growth,
    commitConsumer,
    events: new LibraryEvents(),
    lockRights: new LockRights(),
    onHeadMoved: (listener) => void listeners.push(listener),
    dependents,
    pathBindings: options.pathBindings,
    defaultHistoryDays,
    async [Symbol.asyncDispose]() {
      await writers.idle()
      await commitConsumer.stop()
      keys[Symbol.dispose]()
    },
  }
}
