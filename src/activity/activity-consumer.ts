import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  CommitConsumer,
  consumerPosition,
  findLibraryByKey,
  isGone,
  type LibraryInfo,
  listRenames,
  moveConsumer,
  type NumberedCommit,
  writeFollowed,
} from '../commits/index.ts'
import type { Database, Transaction } from '../database/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { EMPTY_ID } from '../objects/index.ts'
import { activitiesOf, type CommitActivity } from './activity-row.ts'
import { deleteDerived, insertCommitActivities, keysBehind } from './activity-store.ts'

export const CONSUMER = 'activity'
// Position of the notifications. It is kept when the feed is rebuilt.
const NOTIFIED = 'activity-told'
// A step ends with the commit that reaches this many rows. They are written in one transaction.
const ENOUGH_ROWS = 1000
const ROWS_PER_DELETE = 1000
const LIBRARIES_AT_ONCE = 4

/** A commit and its activities. */
export interface CommitSummary {
  readonly commit: NumberedCommit
  readonly activities: readonly CommitActivity[]
  /** Total number of changes, because activities may be truncated. */
  readonly changeCount: number
}

/**
 * Notifies a receiver of commits. Returns a function that writes the notifications, in the transaction that
 * moves the position. It is called with the commits that were not notified before, each once, in order.
 */
export type CommitNotifier = (
  library: LibraryInfo,
  commits: readonly CommitSummary[],
) => Promise<((tx: Transaction, commits: readonly CommitSummary[]) => Promise<void>) | undefined>

/** Processes the commits of each library, maintains the feed (I3), and calls the notifiers. */
export class ActivityConsumer {
  readonly #core: LibraryCore
  readonly #db: Database
  readonly #consumer: CommitConsumer
  readonly #notifiers: CommitNotifier[] = []

  constructor(core: LibraryCore, db: Database, onError: (error: unknown) => void) {
    this.#core = core
    this.#db = db
    this.#consumer = new CommitConsumer({
      db,
      name: CONSUMER,
      step: (library, from, wanted) => this.#step(library, from, wanted),
      onError,
    })
  }

  onCommits(notifier: CommitNotifier): void {
    this.#notifiers.push(notifier)
  }

  /** Schedules background processing of a library. */
  wake(library: LibraryInfo): void {
    this.#consumer.wake(library)
  }

  /** Resolves once all earlier commits of these libraries are in the feed. */
  async catchUp(libraryKeys: readonly number[]): Promise<void> {
    const behind = await keysBehind(this.#db, CONSUMER, libraryKeys)
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
        await moveConsumer(tx, library.key, CONSUMER, 0)
      },
      { durable: false },
    )
    this.#consumer.invalidate(library.key)
    await this.#consumer.catchUp(library)
  }

  stop(): Promise<void> {
    return this.#consumer.stop()
  }

  async #catchUp(libraryKey: number): Promise<void> {
    const library = await findLibraryByKey(this.#db, libraryKey)
    if (library === undefined) return
    // A library purged meanwhile has no activities.
    await this.#consumer.catchUp(library).catch((error: unknown) => {
      if (!isGone(error)) throw error
    })
  }

  async #step(library: LibraryInfo, from: number, wanted: number): Promise<number | undefined> {
    const db = this.#db
    const { now, recentCommits } = this.#core
    const commits = await recentCommits.between(library, Math.max(1, from), wanted)
    const renames = await listRenames(db, library.key, from + 1, wanted)
    let before = from === 0 ? undefined : commits.shift()
    const summaries: CommitSummary[] = []
    let rows = 0
    for (const commit of commits) {
      const root = before?.rootId ?? EMPTY_ID
      const changes = await this.#core.changes.listedBetween(library.key, root, commit.rootId)
      // The clock of a sync client may be ahead, which would keep its commits on top of the feed.
      const timely = { ...commit, ctime: Math.min(commit.ctime, now()) }
      const activities = activitiesOf(timely, changes, renames.get(commit.seq))
      summaries.push({ commit, activities, changeCount: changes.length })
      rows += activities.length
      before = commit
      if (rows > ENOUGH_ROWS) break
    }
    if (before === undefined || before.seq === from) throw new Error(`commit ${from + 1} is missing`)
    const writers = await Promise.all(this.#notifiers.map((notify) => notify(library, summaries)))
    const move = { libraryKey: library.key, name: CONSUMER, from, to: before.seq }
    const moved = await writeFollowed(db, move, (tx) => write(tx, library, summaries, writers))
    return moved ? before.seq : undefined
  }
}

type Writer = Awaited<ReturnType<CommitNotifier>>

async function write(
  tx: Transaction,
  library: LibraryInfo,
  commits: readonly CommitSummary[],
  writers: readonly Writer[],
): Promise<void> {
  await insertCommitActivities(
    tx,
    library.key,
    commits.flatMap(({ activities }) => activities),
  )
  const reached = await consumerPosition(tx, library.key, NOTIFIED)
  const fresh = commits.filter(({ commit }) => commit.seq > reached)
  const last = fresh.at(-1)
  if (last === undefined) return
  for (const writer of writers) await writer?.(tx, fresh)
  await moveConsumer(tx, library.key, NOTIFIED, last.commit.seq)
}
