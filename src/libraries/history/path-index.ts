import { type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { RecentCommits } from '../commits/index.ts'
import {
  CommitConsumer,
  type DerivedPosition,
  type DerivedStep,
  type ModuleConsumer,
} from '../consumers/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { type ObjectStore, Tree, TreeChanges } from '../tree/index.ts'
import { IndexRows } from './path-index-rows.ts'
import { type Advance, advance, dropDerived, PATHS_CONSUMER } from './path-index-store.ts'
import { findTrashAt, findTrashBelow, hasTrash, type TrashPresence } from './trash-store.ts'

// A step ends with the commit that exceeds this number, to bound its memory.
const MAX_ROWS_PER_STEP = 5000
const PATHS_PER_QUERY = 200

interface PathIndexOptions {
  readonly db: Database
  readonly objects: ObjectStore
  readonly changes: TreeChanges
  readonly recentCommits: RecentCommits
  readonly commitConsumer: CommitConsumer
}

/**
 * Consumes the commits of each library and indexes deletions, the first author of each path, and the
 * commits that added or changed it. The index is derived (I3), so it can be deleted and rebuilt from the
 * commits. It does not block writes. Readers that need it up to date call `catchUp` first.
 */
export class PathIndex {
  readonly #db: Database
  readonly #objects: ObjectStore
  readonly #changes: TreeChanges
  readonly #recentCommits: RecentCommits
  readonly #consumer: ModuleConsumer

  constructor({ db, objects, changes, recentCommits, commitConsumer }: PathIndexOptions) {
    this.#db = db
    this.#objects = objects
    this.#changes = changes
    this.#recentCommits = recentCommits
    this.#consumer = commitConsumer.add({
      db,
      name: PATHS_CONSUMER,
      step: (library, { seq }, wanted) => this.#step(library, seq, wanted),
    })
  }

  /** The path index by itself, for commands. */
  static open(db: Database, objects: ObjectStore): PathIndex {
    const recentCommits = new RecentCommits(db)
    const commitConsumer = new CommitConsumer({ db, recentCommits, onError: () => {} })
    return new PathIndex({ db, objects, changes: new TreeChanges(objects), recentCommits, commitConsumer })
  }

  /** Resolves when all commits up to the head of the library are processed. */
  catchUp(library: LibraryInfo): Promise<void> {
    return this.#consumer.catchUp(library)
  }

  /** Deletes the rows of a library and rebuilds them from its commits. */
  async rebuild(library: LibraryInfo): Promise<void> {
    await dropDerived(this.#db, library.key)
    this.#consumer.invalidate(library.key)
    await this.#consumer.catchUp(library)
  }

  /** Processes commits up to `wanted`, or fewer if they have many changes. Undefined if another process did it. */
  async #step(
    library: LibraryInfo,
    from: number,
    wanted: number,
  ): Promise<DerivedStep<DerivedPosition> | undefined> {
    const commits = await this.#recentCommits.between(library, Math.max(1, from), wanted)
    const rows = new IndexRows()
    let before = from === 0 ? undefined : commits.shift()
    for (const commit of commits) {
      const changes = await this.#changes.listedBetween(
        library.key,
        before?.rootId ?? EMPTY_ID,
        commit.rootId,
      )
      await rows.add(changes, commit, before)
      before = commit
      if (rows.count > MAX_ROWS_PER_STEP) break
    }
    if (before === undefined || before.seq === from) throw new Error(`commit ${from + 1} is missing`)
    const { trash, presence } = await this.#presence(library.key, rows, before.rootId)
    const { firstSeen, origins, edits } = rows
    const step = { from, upTo: before.seq, trash, presence, firstSeen, origins, edits }
    const write = await advance(this.#db, library.key, step)
    return write && { reached: { seq: before.seq }, rows: { write } }
  }

  /** Computes `present` of new and existing trash rows at the touched paths, from the tree after the commits. */
  async #presence(
    libraryKey: number,
    rows: IndexRows,
    root: DirId,
  ): Promise<Pick<Advance, 'trash' | 'presence'>> {
    const tree = new Tree(this.#objects, libraryKey, root)
    const slicer = new TimeSlicer()
    const isPresent = async ({ path, isDir }: { path: LibraryPath; isDir: boolean }) => {
      if (slicer.isDue) await slicer.rest()
      const entry = await tree.find(path)
      return entry !== undefined && (entry.kind === 'dir') === isDir
    }
    const trash: Advance['trash'][number][] = []
    // Without additions no deleted entry is present again.
    const hasAdditions = rows.origins.length > 0
    for (const row of rows.trash.values()) {
      trash.push({ ...row, present: hasAdditions && (await isPresent(row)) })
    }
    const presence = new Map<LibraryPath, TrashPresence>()
    if (rows.touched.size === 0 || !(await this.#mayHaveTrash(libraryKey, rows.touched.size)))
      return { trash, presence: [] }
    const found: TrashPresence[] = []
    const touched = [...rows.touched]
    for (let start = 0; start < touched.length; start += PATHS_PER_QUERY) {
      if (slicer.isDue) await slicer.rest()
      found.push(...(await findTrashAt(this.#db, libraryKey, touched.slice(start, start + PATHS_PER_QUERY))))
    }
    for (const folder of rows.touchedFolders) {
      if (slicer.isDue) await slicer.rest()
      for (const row of await findTrashBelow(this.#db, libraryKey, folder)) found.push(row)
    }
    for (const row of found) {
      if (rows.trash.has(row.path) || presence.has(row.path)) continue
      const present = await isPresent(row)
      if (present !== row.present) presence.set(row.path, { ...row, present })
    }
    return { trash, presence: [...presence.values()] }
  }

  /** SQLite usually has the answer in the row cache. PostgreSQL answers the actual question in the same time. */
  async #mayHaveTrash(libraryKey: number, paths: number): Promise<boolean> {
    if (this.#db.dialect === 'postgres' && paths <= PATHS_PER_QUERY) return true
    return hasTrash(this.#db, libraryKey)
  }
}
