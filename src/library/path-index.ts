import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { type DirId, EMPTY_ID } from '../objects/ids.ts'
import { listCommitsDown, type NumberedCommit } from './commit-store.ts'
import { type Change, diffTrees } from './diff.ts'
import type { LibraryInfo } from './library-info.ts'
import { findLibraryByKey } from './library-store.ts'
import type { ObjectStore } from './object-store.ts'
import { advance, type FirstSeenRow, followedSeq, type TrashRow } from './path-index-store.ts'

const COMMITS_A_STEP = 50
// Commits that come in quick succession are followed together.
const WAKE_DELAY_MS = 100
const MOST_POSITIONS_KEPT = 10_000

/**
 * Follows the commits of each library and keeps what was deleted and who added a path first. All
 * of it is derived (I3): it can be dropped and is then made again from the commits. It never holds
 * up a write; who needs it up to date asks `catchUp` first.
 */
export class PathIndex {
  readonly #db: Database
  readonly #objects: ObjectStore
  readonly #onError: (error: unknown) => void
  readonly #running = new Map<number, Promise<void>>()
  /** How far each library is followed, as far as this process knows. */
  readonly #positions = new Map<number, number>()
  readonly #woken = new Map<number, LibraryInfo>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(db: Database, objects: ObjectStore, onError: (error: unknown) => void) {
    this.#db = db
    this.#objects = objects
    this.#onError = onError
  }

  /** Follows a library in the background, soon. */
  wake(library: LibraryInfo): void {
    if (this.#stopped) return
    this.#woken.set(library.key, library)
    this.#timer ??= setTimeout(() => void this.#followWoken(), WAKE_DELAY_MS).unref()
  }

  /** Resolves once every commit up to the library's head is followed. */
  async catchUp(library: LibraryInfo): Promise<void> {
    while ((this.#positions.get(library.key) ?? 0) < library.headSeq) {
      const running = this.#running.get(library.key)
      await (running ?? this.#start(library))
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await Promise.allSettled(this.#running.values())
  }

  async #followWoken(): Promise<void> {
    this.#timer = undefined
    const libraries = [...this.#woken.values()]
    this.#woken.clear()
    for (const library of libraries) {
      if (this.#stopped) return
      try {
        // Deleted, or even purged, since it was changed: followed once it is restored and asked about.
        if ((await findLibraryByKey(this.#db, library.key)) !== undefined) await this.catchUp(library)
      } catch (error) {
        if (!this.#stopped) this.#onError(error)
      }
    }
  }

  #start(library: LibraryInfo): Promise<void> {
    const running = this.#follow(library).finally(() => this.#running.delete(library.key))
    this.#running.set(library.key, running)
    return running
  }

  async #follow(library: LibraryInfo): Promise<void> {
    let seq = await followedSeq(this.#db, library.key)
    while (seq < library.headSeq && !this.#stopped) {
      const upTo = Math.min(seq + COMMITS_A_STEP, library.headSeq)
      const moved = await this.#step(library, seq, upTo)
      // Another process may have been here first; its position is the truth.
      seq = moved ? upTo : await followedSeq(this.#db, library.key)
      await nextTurn()
    }
    if (this.#stopped && seq < library.headSeq) throw new Error('the path index is stopping')
    this.#positions.delete(library.key)
    this.#positions.set(library.key, seq)
    for (const key of this.#positions.keys()) {
      if (this.#positions.size <= MOST_POSITIONS_KEPT) break
      this.#positions.delete(key)
    }
  }

  async #step(library: LibraryInfo, from: number, upTo: number): Promise<boolean> {
    const known = await listCommitsDown(this.#db, library, upTo, Math.max(1, from))
    const commits = known.toReversed()
    const trash: TrashRow[] = []
    const firstSeen: FirstSeenRow[] = []
    let before = from === 0 ? undefined : commits.shift()
    for (const commit of commits) {
      const changes = await this.#changes(library.key, before, commit)
      collect(changes, commit, before, trash, firstSeen)
      before = commit
    }
    return advance(this.#db, library.key, { from, upTo, trash, firstSeen })
  }

  #changes(
    libraryKey: number,
    before: NumberedCommit | undefined,
    commit: NumberedCommit,
  ): Promise<Change[]> {
    const oldRoot: DirId = before?.rootId ?? EMPTY_ID
    return diffTrees(this.#objects, libraryKey, oldRoot, commit.rootId)
  }
}

function collect(
  changes: readonly Change[],
  commit: NumberedCommit,
  before: NumberedCommit | undefined,
  trash: TrashRow[],
  firstSeen: FirstSeenRow[],
): void {
  const author = commit.creatorName ?? ''
  let position = 0
  for (const change of changes) {
    if (change.op === 'deleted' && before !== undefined) {
      position++
      trash.push({
        path: change.path,
        isDir: change.entry.kind === 'dir',
        objectId: change.entry.id,
        size: change.entry.size,
        deletedAt: commit.ctime,
        deletedBy: author,
        seq: commit.seq,
        position,
        commitBefore: before.id,
      })
    } else if (change.op === 'added') {
      firstSeen.push({ path: change.path, author, addedAt: commit.ctime })
    } else if (change.op === 'renamed') {
      firstSeen.push({ path: change.newPath, author, addedAt: commit.ctime })
    }
  }
}
