import type { FileId } from '../../base/objects/index.ts'
import { type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { commitMessages, commitRows, type NumberedCommit } from '../commits/index.ts'
import { inOrigin, type LibraryInfo } from '../registry/index.ts'
import { Tree } from '../tree/index.ts'
import { countEdits, findOrigin, listEdits, type OriginRow } from './file-history-store.ts'
import { oldestShown } from './history.ts'
import type { HistoryStores } from './history-stores.ts'

/** The current revision and the previous one are shown whatever the history limit is. */
const ALWAYS_SHOWN = 2

/** How a commit changed a file. */
type RevisionKind = 'create' | 'edit' | 'rename' | 'move' | 'recover'

/** A file as of the commit that changed it. */
export interface Revision {
  readonly commit: NumberedCommit
  readonly kind: RevisionKind
  /** The path of the file as of this commit. */
  readonly path: LibraryPath
  /** The previous path, if this commit moved the file or one of its folders. */
  readonly oldPath: LibraryPath | undefined
  readonly fileId: FileId
  readonly size: number
}

/** A revision without its commit. */
interface RevisionRow {
  readonly seq: number
  readonly path: LibraryPath
  readonly oldPath: LibraryPath | undefined
  readonly isEdit: boolean
  /** Undefined if the file was added with a folder. */
  readonly content: { readonly objectId: FileId; readonly size: number } | undefined
}

/** A period during which a file was at one path. */
interface Stay {
  readonly path: LibraryPath
  /** The newest commit of the period to include. */
  readonly upTo: number
  /** The commit that brought the file to this path. */
  readonly origin: OriginRow | undefined
}

/** Selects revisions of a file. */
interface RevisionRange {
  readonly path: LibraryPath
  /** The newest commit to search; it must have the file at the path. */
  readonly upTo: number
  /** The oldest commit to search. */
  readonly oldest: number
  /** Revisions of later commits are followed but not returned. */
  readonly notAfter?: number
  readonly skip?: number
  readonly limit: number
}

/**
 * Revisions of a file, newest first, through renames and moves of it and of its folders. The list ends
 * where the file was added: an earlier entry at the path is another file.
 */
export async function listRevisions(
  stores: HistoryStores,
  library: LibraryInfo,
  range: RevisionRange,
): Promise<Revision[]> {
  await stores.pathIndex.catchUp(library)
  return withCommits(stores, library, await listRevisionRows(stores, library, range))
}

/** The commit that last changed the content of a file of the head, or added it. Renames and moves do not count. */
export async function findLastContent(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<NumberedCommit | undefined> {
  const { db } = stores
  await stores.pathIndex.catchUp(library)
  const everything = { path, upTo: library.headSeq, oldest: 1 }
  for await (const { path: at, upTo, origin } of staysOf(stores, library, everything)) {
    const after = origin?.seq ?? 0
    const [edit] = await listEdits(db, library.key, at, { after, upTo, skip: 0, limit: 1 })
    const seq = edit?.seq ?? (origin?.oldPath === undefined ? origin?.seq : undefined)
    if (seq !== undefined) return (await commitRows.listBySeq(db, library, [seq])).get(seq)
  }
  return undefined
}

/** The number of revisions of a file. */
export async function countRevisions(
  stores: HistoryStores,
  library: LibraryInfo,
  range: Omit<RevisionRange, 'skip' | 'limit'>,
): Promise<number> {
  await stores.pathIndex.catchUp(library)
  let count = 0
  for await (const stay of staysOf(stores, library, range))
    count += await countIn(stores, library, stay, range.oldest)
  return count
}

/** The oldest commit whose state of a file is shown. The minimum of two revisions is only for files of the head. */
export async function oldestRevisionShown(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<number> {
  const { sub } = library
  if (sub !== undefined) {
    const shown = await oldestRevisionShown(stores, sub.origin, inOrigin(library, path))
    if (shown > sub.sinceSeq) return shown
    return (await revisionWhenShared(stores, library, path))?.seq ?? sub.sinceSeq
  }
  const oldest = await oldestShown(stores, library)
  const entry =
    oldest > 1
      ? await new Tree(stores.objects, library.key, library.root, library.rootDir).find(path)
      : undefined
  if (entry?.kind !== 'file') return oldest
  await stores.pathIndex.catchUp(library)
  const range = { path, upTo: library.headSeq, oldest: 1, limit: ALWAYS_SHOWN }
  const last = (await listRevisionRows(stores, library, range)).at(-1)
  return Math.min(oldest, last?.seq ?? oldest)
}

/**
 * The revision of a file that was current when its sub-library was first shared. It is the only revision from before that commit
 * that the sub-library shows. Undefined if there is no file at the path now.
 */
export async function revisionWhenShared(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<{ readonly seq: number; readonly path: LibraryPath } | undefined> {
  const { sub } = library
  if (sub === undefined) return undefined
  const entry = await new Tree(stores.objects, library.key, library.root, library.rootDir).find(path)
  if (entry?.kind !== 'file') return undefined
  await stores.pathIndex.catchUp(sub.origin)
  const range = { path: inOrigin(library, path), upTo: sub.origin.headSeq, oldest: 1, limit: 1 }
  const [row] = await listRevisionRows(stores, sub.origin, { ...range, notAfter: sub.sinceSeq })
  return row
}

async function listRevisionRows(
  stores: HistoryStores,
  library: LibraryInfo,
  range: RevisionRange,
): Promise<RevisionRow[]> {
  const { oldest, limit } = range
  const rows: RevisionRow[] = []
  let skip = range.skip ?? 0
  for await (const stay of staysOf(stores, library, range)) {
    // Counting is cheaper than reading. It is only needed while there are revisions to skip.
    const count = skip > 0 ? await countIn(stores, library, stay, oldest) : Number.POSITIVE_INFINITY
    if (skip < count) {
      rows.push(...(await rowsIn(stores, library, stay, { oldest, skip, limit: limit - rows.length })))
    }
    skip = Math.max(0, skip - count)
    if (rows.length >= limit) break
  }
  return rows
}

/** The periods of a file at its paths, newest first. */
async function* staysOf(
  stores: HistoryStores,
  library: LibraryInfo,
  range: Pick<RevisionRange, 'path' | 'upTo' | 'oldest' | 'notAfter'>,
): AsyncGenerator<Stay> {
  const slicer = new TimeSlicer()
  const { notAfter = Number.POSITIVE_INFINITY } = range
  let { path, upTo } = range
  while (upTo >= range.oldest) {
    if (slicer.isDue) await slicer.rest()
    const origin = await findOrigin(stores.db, library.key, path, upTo)
    if ((origin?.seq ?? 0) <= notAfter) yield { path, upTo: Math.min(upTo, notAfter), origin }
    if (origin?.oldPath === undefined) return
    path = (origin.oldPath + path.slice(origin.path.length)) as LibraryPath
    upTo = origin.seq - 1
  }
}

async function countIn(
  stores: HistoryStores,
  library: LibraryInfo,
  { path, upTo, origin }: Stay,
  oldest: number,
): Promise<number> {
  const after = Math.max(origin?.seq ?? 0, oldest - 1)
  const edits = await countEdits(stores.db, library.key, path, { after, upTo })
  return edits + (origin !== undefined && origin.seq >= oldest ? 1 : 0)
}

async function rowsIn(
  stores: HistoryStores,
  library: LibraryInfo,
  { path, upTo, origin }: Stay,
  { oldest, skip, limit }: { oldest: number; skip: number; limit: number },
): Promise<RevisionRow[]> {
  const after = Math.max(origin?.seq ?? 0, oldest - 1)
  const edits = await listEdits(stores.db, library.key, path, { after, upTo, skip, limit })
  const rows = edits.map((edit): RevisionRow => {
    return { seq: edit.seq, path, oldPath: undefined, isEdit: true, content: edit }
  })
  if (rows.length < limit && origin !== undefined && origin.seq >= oldest) {
    const { seq, oldPath } = origin
    const before = oldPath && ((oldPath + path.slice(origin.path.length)) as LibraryPath)
    // The origin row of an ancestor folder has no content of the file, which is then read from the tree.
    const content = origin.path === path ? origin.content : undefined
    rows.push({ seq, path, oldPath: before, isEdit: false, content })
  }
  return rows
}

async function withCommits(
  stores: HistoryStores,
  library: LibraryInfo,
  rows: readonly RevisionRow[],
): Promise<Revision[]> {
  const commits = await commitRows.listBySeq(
    stores.db,
    library,
    rows.map(({ seq }) => seq),
  )
  const revisions: Revision[] = []
  for (const row of rows) {
    const commit = commits.get(row.seq)
    const content = commit && (row.content ?? (await contentAt(stores, library, commit, row.path)))
    if (commit === undefined || content === undefined) continue
    const { path, oldPath } = row
    const { objectId: fileId, size } = content
    revisions.push({ commit, kind: kindOf(row, commit), path, oldPath, fileId, size })
  }
  return revisions
}

async function contentAt(
  stores: HistoryStores,
  library: LibraryInfo,
  commit: NumberedCommit,
  path: LibraryPath,
): Promise<RevisionRow['content']> {
  const entry = await new Tree(stores.objects, library.key, commit.rootId).find(path)
  return entry?.kind === 'file' ? { objectId: entry.id, size: entry.size } : undefined
}

function kindOf(row: RevisionRow, { description }: NumberedCommit): RevisionKind {
  if (row.isEdit) return 'edit'
  if (row.oldPath !== undefined) return parentOf(row.oldPath) === parentOf(row.path) ? 'rename' : 'move'
  return commitMessages.isRecovery(description) ? 'recover' : 'create'
}
