import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  CommitFollower,
  findLibraryByKey,
  followedSeq,
  isGone,
  type LibraryInfo,
  listRenames,
  moveFollower,
  type NumberedCommit,
  writeFollowed,
} from '../commits/index.ts'
import type { Database, Transaction } from '../database/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { EMPTY_ID } from '../objects/index.ts'
import { activitiesOf, type CommitActivity } from './activity-row.ts'
import { deleteDerived, insertCommitActivities, keysBehind } from './activity-store.ts'

export const FOLLOWER = 'activity'
// How far others were told of commits: it stays where it is when the feed is made again.
const TELLER = 'activity-told'
// A step ends with the commit that brings it here; its rows go in one transaction.
const ENOUGH_ROWS = 1000
const ROWS_A_DELETE = 1000
const LIBRARIES_AT_ONCE = 4

/** A commit and what it did. */
export interface ToldCommit {
  readonly commit: NumberedCommit
  readonly activities: readonly CommitActivity[]
  /** How much it changed in all, where the activities are cut. */
  readonly changeCount: number
}

/**
 * Tells somebody of commits: finds out whom, and gives what writes it down, in the transaction that notes they
 * were told. That is handed those of the commits nobody was told of yet; each comes once, in order.
 */
export type Teller = (
  library: LibraryInfo,
  commits: readonly ToldCommit[],
) => Promise<((tx: Transaction, commits: readonly ToldCommit[]) => Promise<void>) | undefined>

/** Follows the commits of each library, keeps the feed they give rise to (I3), and tells others of them. */
export class ActivityFollower {
  readonly #core: LibraryCore
  readonly #db: Database
  readonly #follower: CommitFollower
  readonly #tellers: Teller[] = []

  constructor(core: LibraryCore, db: Database, onError: (error: unknown) => void) {
    this.#core = core
    this.#db = db
    this.#follower = new CommitFollower({
      db,
      name: FOLLOWER,
      step: (library, from, wanted) => this.#step(library, from, wanted),
      onError,
    })
  }

  onCommits(teller: Teller): void {
    this.#tellers.push(teller)
  }

  /** Follows a library in the background, soon. */
  wake(library: LibraryInfo): void {
    this.#follower.wake(library)
  }

  /** Resolves once all that was committed in these libraries before is in the feed. */
  async catchUp(libraryKeys: readonly number[]): Promise<void> {
    const behind = await keysBehind(this.#db, FOLLOWER, libraryKeys)
    for (let start = 0; start < behind.length; start += LIBRARIES_AT_ONCE) {
      await Promise.all(behind.slice(start, start + LIBRARIES_AT_ONCE).map((key) => this.#catchUp(key)))
    }
  }

  /** Drops what commits gave rise to in a library and makes it again. Nobody is told of anything twice. */
  async reindex(library: LibraryInfo): Promise<void> {
    const db = this.#db
    const some = () => db.write((tx) => deleteDerived(tx, library.key, ROWS_A_DELETE), { durable: false })
    while ((await some()) > 0) await nextTurn()
    await db.write(
      async (tx) => {
        // What was followed since the last look would be there twice.
        await deleteDerived(tx, library.key)
        await moveFollower(tx, library.key, FOLLOWER, 0)
      },
      { durable: false },
    )
    this.#follower.forget(library.key)
    await this.#follower.catchUp(library)
  }

  stop(): Promise<void> {
    return this.#follower.stop()
  }

  async #catchUp(libraryKey: number): Promise<void> {
    const library = await findLibraryByKey(this.#db, libraryKey)
    if (library === undefined) return
    // One that is purged meanwhile has no place in anybody's feed.
    await this.#follower.catchUp(library).catch((error: unknown) => {
      if (!isGone(error)) throw error
    })
  }

  async #step(library: LibraryInfo, from: number, wanted: number): Promise<number | undefined> {
    const db = this.#db
    const { now, recentCommits } = this.#core
    const commits = await recentCommits.between(library, Math.max(1, from), wanted)
    const renames = await listRenames(db, library.key, from + 1, wanted)
    let before = from === 0 ? undefined : commits.shift()
    const told: ToldCommit[] = []
    let rows = 0
    for (const commit of commits) {
      const root = before?.rootId ?? EMPTY_ID
      const changes = await this.#core.changes.listedBetween(library.key, root, commit.rootId)
      // The clock of a sync client may be ahead, and would keep its commits on top of the feed.
      const timely = { ...commit, ctime: Math.min(commit.ctime, now()) }
      const activities = activitiesOf(timely, changes, renames.get(commit.seq))
      told.push({ commit, activities, changeCount: changes.length })
      rows += activities.length
      before = commit
      if (rows > ENOUGH_ROWS) break
    }
    if (before === undefined || before.seq === from) throw new Error(`commit ${from + 1} is missing`)
    const writers = await Promise.all(this.#tellers.map((tell) => tell(library, told)))
    const move = { libraryKey: library.key, name: FOLLOWER, from, to: before.seq }
    const moved = await writeFollowed(db, move, (tx) => write(tx, library, told, writers))
    return moved ? before.seq : undefined
  }
}

type Writer = Awaited<ReturnType<Teller>>

async function write(
  tx: Transaction,
  library: LibraryInfo,
  commits: readonly ToldCommit[],
  writers: readonly Writer[],
): Promise<void> {
  await insertCommitActivities(
    tx,
    library.key,
    commits.flatMap(({ activities }) => activities),
  )
  const reached = await followedSeq(tx, library.key, TELLER)
  const fresh = commits.filter(({ commit }) => commit.seq > reached)
  const last = fresh.at(-1)
  if (last === undefined) return
  for (const writer of writers) await writer?.(tx, fresh)
  await moveFollower(tx, library.key, TELLER, last.commit.seq)
}
