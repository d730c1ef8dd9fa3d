import { setImmediate as nextTurn } from 'node:timers/promises'
import { EMPTY_ID } from '../../base/objects/index.ts'
import type { NumberedCommit } from '../../libraries/commits/index.ts'
import {
  type DerivedPosition,
  type DerivedStep,
  isGone,
  type ModuleConsumer,
  positionRows,
} from '../../libraries/consumers/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { libraryRenames, libraryRows } from '../../libraries/registry/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import { activitiesOf, type CommitActivity } from './activity-row.ts'
import {
  deleteActivitiesBefore,
  deleteDerived,
  insertCommitActivities,
  keysBehind,
} from './activity-store.ts'

const FEED = 'activity'
// It is kept when the feed is rebuilt.
const NOTICES = 'activity-told'
/** The names of the consumers of this module. */
export const CONSUMERS: readonly string[] = [FEED, NOTICES]
// A step ends with the commit that reaches this many rows. They are written in one transaction.
const ENOUGH_ROWS = 1000
const ROWS_PER_DELETE = 1000
const LIBRARIES_AT_ONCE = 4
const LIBRARIES_PER_DELETE = 500
const DAY = 86_400

/** A commit and its activities. */
export interface CommitSummary {
  readonly commit: NumberedCommit
  readonly activities: readonly CommitActivity[]
  /** Total number of changes, because activities may be truncated. */
  readonly changeCount: number
}

/**
 * Notifies a receiver of commits, each once, in order. Returns a function that writes the notifications, in the transaction that
 * moves the position.
 */
export type CommitNotifier = (
  library: LibraryInfo,
  commits: readonly CommitSummary[],
) => Promise<((tx: Transaction) => Promise<void>) | undefined>

/** The summaries of consecutive commits, and the last of them. */
interface Summarized {
  readonly from: number
  readonly wanted: number
  readonly summaries: Promise<readonly CommitSummary[]>
}

/** Processes the commits of each library, maintains the feed (I3), and calls the notifiers. */
export class ActivityConsumer {
  readonly #core: LibraryCore
  readonly #db: Database
  readonly #feed: ModuleConsumer
  readonly #notices: ModuleConsumer
  readonly #notifiers: CommitNotifier[] = []
  readonly #keepDays: number
  /** By library, until both consumers have them. */
  readonly #summarized = new Map<number, Summarized>()

  /** `keepDays`: how long the feed keeps activities; negative for all. */
  constructor(core: LibraryCore, db: Database, keepDays: number) {
    this.#keepDays = keepDays
    this.#core = core
    this.#db = db
    this.#feed = core.commitConsumer.add({
      db,
      name: FEED,
      step: (library, { seq }, wanted) => this.#feedStep(library, seq, wanted),
    })
    this.#notices = core.commitConsumer.add({
      db,
      name: NOTICES,
      step: (library, { seq }, wanted) => this.#noticesStep(library, seq, wanted),
    })
  }

  onCommits(notifier: CommitNotifier): void {
    this.#notifiers.push(notifier)
  }

  /** Resolves once all earlier commits of these libraries are in the feed. */
  async catchUp(libraryKeys: readonly number[]): Promise<void> {
    const behind = await keysBehind(this.#db, CONSUMERS, libraryKeys)
    for (let start = 0; start < behind.length; start += LIBRARIES_AT_ONCE) {
      await Promise.all(behind.slice(start, start + LIBRARIES_AT_ONCE).map((key) => this.#catchUp(key)))
    }
  }

  /** Deletes and rebuilds the activities derived from commits. Notifications are not repeated. */
  async reindex(library: LibraryInfo): Promise<void> {
    const db = this.#db
    const some = () => db.write((tx) => deleteDerived(tx, library.key, ROWS_PER_DELETE), { durable: false })
    while ((await some()) > 0) await nextTurn()
    await db.write(
      async (tx) => {
        // Rows written since the last batch would be duplicated.
        await deleteDerived(tx, library.key)
        await positionRows.set(tx, library.key, FEED, 0)
      },
      { durable: false },
    )
    this.#feed.invalidate(library.key)
    await this.#feed.catchUp(library)
  }

  /** Maintenance: deletes activities older than `CARREL_ACTIVITY_DAYS`. */
  async deleteOld(): Promise<void> {
    const before = this.#oldest
    if (this.#keepDays < 0) return
    for (let after = 0; ; ) {
      const keys = await libraryRows.listAllKeys(this.#db, after, LIBRARIES_PER_DELETE)
      const last = keys.at(-1)
      if (last === undefined) return
      after = last
      const some = (tx: Transaction) => deleteActivitiesBefore(tx, keys, before, ROWS_PER_DELETE)
      while ((await this.#db.write(some, { durable: false })) === ROWS_PER_DELETE) await nextTurn()
    }
  }

  /** Unix seconds. */
  get #oldest(): number {
    return this.#keepDays < 0 ? Number.NEGATIVE_INFINITY : this.#core.now() - this.#keepDays * DAY
  }

  async stop(): Promise<void> {
    await Promise.all([this.#feed.stop(), this.#notices.stop()])
  }

  async #catchUp(libraryKey: number): Promise<void> {
    const library = await libraryRows.findByKey(this.#db, libraryKey)
    if (library === undefined) return
    // A library purged meanwhile has no activities.
    const caughtUp = Promise.all([this.#feed.catchUp(library), this.#notices.catchUp(library)])
    await caughtUp.catch((error: unknown) => {
      if (!isGone(error)) throw error
    })
  }

  async #feedStep(library: LibraryInfo, from: number, wanted: number): Promise<DerivedStep<DerivedPosition>> {
    const { last, summaries } = await this.#summarize(library, from, wanted)
    const oldest = this.#oldest
    const activities = summaries.flatMap((commit) => commit.activities.filter(({ at }) => at >= oldest))
    return {
      reached: { seq: last },
      rows: { write: (tx) => insertCommitActivities(tx, library.key, activities) },
    }
  }

  async #noticesStep(
    library: LibraryInfo,
    from: number,
    wanted: number,
  ): Promise<DerivedStep<DerivedPosition>> {
    const { last, summaries } = await this.#summarize(library, from, wanted)
    const writers = await Promise.all(this.#notifiers.map((notify) => notify(library, summaries)))
    const write = async (tx: Transaction) => {
      for (const writer of writers) await writer?.(tx)
    }
    return { reached: { seq: last }, rows: { write } }
  }

  /** The summaries of the commits after `from`, and the number of the last. Both consumers usually ask for the same ones. */
  async #summarize(library: LibraryInfo, from: number, wanted: number) {
    const found = this.#summarized.get(library.key)
    const isSame = found?.from === from && found.wanted === wanted
    if (isSame) this.#summarized.delete(library.key)
    const summaries = isSame ? found.summaries : this.#readSummaries(library, from, wanted)
    if (!isSame) this.#share(library.key, { from, wanted, summaries })
    const last = (await summaries).at(-1)
    if (last === undefined) throw new Error(`commit ${from + 1} is missing`)
    return { last: last.commit.seq, summaries: await summaries }
  }

  #share(libraryKey: number, summarized: Summarized): void {
    this.#summarized.set(libraryKey, summarized)
    const forget = () => {
      if (this.#summarized.get(libraryKey) === summarized) this.#summarized.delete(libraryKey)
    }
    void summarized.summaries.then(forget, forget)
  }

  async #readSummaries(library: LibraryInfo, from: number, wanted: number): Promise<CommitSummary[]> {
    const { now } = this.#core
    const { changes: stored, recentCommits } = storesOf(this.#core)
    const commits = await recentCommits.between(library, Math.max(1, from), wanted)
    const summaries: CommitSummary[] = []
    let before = from === 0 ? undefined : commits.shift()
    const renames = await this.#renames(library.key, before, commits)
    let rows = 0
    for (const commit of commits) {
      const root = before?.rootId ?? EMPTY_ID
      const changes = await stored.listedBetween(library.key, root, commit.rootId)
      // The clock of a sync client may be ahead, which would keep its commits on top of the feed.
      const timely = { ...commit, ctime: Math.min(commit.ctime, now()) }
      const activities = activitiesOf(timely, changes, renames.get(commit.seq))
      summaries.push({ commit, activities, changeCount: changes.length })
      rows += activities.length
      before = commit
      if (rows > ENOUGH_ROWS) break
    }
    return summaries
  }

  /** Renames of the library. Such a commit of this server leaves the tree as it was. */
  async #renames(
    libraryKey: number,
    before: NumberedCommit | undefined,
    commits: readonly NumberedCommit[],
  ): ReturnType<typeof libraryRenames.list> {
    const [first] = commits
    const last = commits.at(-1)
    if (first === undefined || last === undefined) return new Map()
    const isOwn = storesOf(this.#core).recentCommits.has(libraryKey, first.seq, last.seq)
    const keepsTree = commits.some(({ rootId }, n) => rootId === (commits[n - 1] ?? before)?.rootId)
    if (isOwn && !keepsTree) return new Map()
    return libraryRenames.list(this.#db, libraryKey, first.seq, last.seq)
  }
}
