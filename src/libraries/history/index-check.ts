import { type LibraryPath, pathKey } from '../../base/paths/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { commitRows } from '../commits/index.ts'
import { positionRows } from '../consumers/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { type ObjectStore, Tree, type TreeChanges } from '../tree/index.ts'
import { originKey } from './file-history-store.ts'
import {
  findDeletionsOf,
  findEditsOf,
  findFirstSeenOf,
  findOriginsOf,
  listTrashPresence,
} from './index-check-store.ts'
import { IndexRows } from './path-index-rows.ts'
import { PATHS_CONSUMER } from './path-index-store.ts'

const COMMITS_PER_STEP = 100
const ROWS_PER_PAGE = 500

/** A row of the path index or the trash that is not as the commits say. */
interface IndexFault {
  readonly index: 'paths' | 'trash'
  readonly path: LibraryPath
  readonly reason: string
}

interface CheckStores {
  readonly db: Database
  readonly objects: ObjectStore
  readonly changes: TreeChanges
}

/**
 * Derives the rows of the path index and the trash from the commits after `oldestSeq` again, and yields those that differ. Commits that the
 * index has not processed yet are left out. `onStep` is called after each batch of commits.
 */
export async function* findIndexFaults(
  { db, objects, changes }: CheckStores,
  library: LibraryInfo,
  oldestSeq: number,
  onStep: () => Promise<void>,
): AsyncGenerator<IndexFault, void> {
  const upTo = Math.min(await positionRows.find(db, library.key, PATHS_CONSUMER), library.headSeq)
  let [before] = await commitRows.listDown(db, library, oldestSeq, oldestSeq)
  for (let from = oldestSeq + 1; from <= upTo; from += COMMITS_PER_STEP) {
    const to = Math.min(from + COMMITS_PER_STEP - 1, upTo)
    for (const commit of (await commitRows.listDown(db, library, to, from)).toReversed()) {
      if (before?.seq === commit.seq - 1) {
        const rows = new IndexRows()
        const found = await changes.listedBetween(library.key, before.rootId, commit.rootId)
        await rows.add(found, commit, before)
        yield* faultsOfCommit(db, library.key, commit.seq, rows)
      }
      before = commit
    }
    await onStep()
  }
  if (before === undefined || before.seq !== upTo) return
  yield* faultsOfPresence(db, library.key, oldestSeq, new Tree(objects, library.key, before.rootId))
}

async function* faultsOfCommit(
  db: Database,
  libraryKey: number,
  seq: number,
  rows: IndexRows,
): AsyncGenerator<IndexFault, void> {
  const fault = (index: IndexFault['index'], path: LibraryPath, reason: string) => ({ index, path, reason })
  const origins = await findOriginsOf(
    db,
    libraryKey,
    seq,
    rows.origins.map(({ path }) => originKey(path)),
  )
  for (const { path, content } of rows.origins) {
    const row = origins.get(hexOf(originKey(path)))
    if (row === undefined) yield fault('paths', path, `commit ${seq} added it, which path_origin lacks`)
    else if (row.objectId !== content?.objectId) yield fault('paths', path, `path_origin has other content`)
  }
  const edits = await findEditsOf(
    db,
    libraryKey,
    seq,
    rows.edits.map(({ path }) => originKey(path)),
  )
  for (const { path, objectId } of rows.edits) {
    const row = edits.get(hexOf(originKey(path)))
    if (row === undefined) yield fault('paths', path, `commit ${seq} changed it, which file_edit lacks`)
    else if (row.objectId !== objectId) yield fault('paths', path, 'file_edit has other content')
  }
  const first = await findFirstSeenOf(
    db,
    libraryKey,
    rows.firstSeen.flatMap(({ path }) => firstSeenKeys(path)),
  )
  for (const { path } of rows.firstSeen) {
    if (!firstSeenKeys(path).some((key) => first.has(hexOf(key))))
      yield fault('paths', path, 'first_seen lacks it')
  }
  const trash = [...rows.trash.values()]
  const deletions = await findDeletionsOf(
    db,
    libraryKey,
    trash.map(({ path }) => pathKey(path)),
  )
  for (const { path, objectId } of trash) {
    const row = deletions.get(hexOf(pathKey(path)))
    // A later deletion of the same path replaced the row.
    if (row !== undefined && row.seq > seq) continue
    if (row === undefined || row.seq < seq) yield fault('trash', path, `commit ${seq} deleted it`)
    else if (row.objectId !== objectId) yield fault('trash', path, 'the trash has other content')
  }
}

async function* faultsOfPresence(
  db: Database,
  libraryKey: number,
  oldestSeq: number,
  tree: Tree,
): AsyncGenerator<IndexFault, void> {
  let after: Uint8Array = new Uint8Array(0)
  for (;;) {
    const rows = await listTrashPresence(db, libraryKey, oldestSeq, after, ROWS_PER_PAGE)
    for (const { path, isDir, present } of rows) {
      const entry = await tree.find(path as LibraryPath)
      const isPresent = entry !== undefined && (entry.kind === 'dir') === isDir
      if (isPresent === present) continue
      const reason = present ? 'it is hidden, but does not exist' : 'it is shown, but exists again'
      yield { index: 'trash', path: path as LibraryPath, reason }
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_PAGE) return
    after = last.pathKey
  }
}

/** The keys of a path in `first_seen`. Rows of earlier versions have the key of the path that was not normalized. */
function firstSeenKeys(path: LibraryPath): Buffer[] {
  const [key, earlier] = [originKey(path), pathKey(path)]
  return key.equals(earlier) ? [key] : [key, earlier]
}

function hexOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex')
}
