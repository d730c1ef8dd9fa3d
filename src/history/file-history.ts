import {
  inOrigin,
  isRecovery,
  type LibraryInfo,
  listCommitsBySeq,
  type NumberedCommit,
} from '../commits/index.ts'
import { type FileId, type LibraryPath, parentOf } from '../objects/index.ts'
import { TimeSlicer } from '../scheduling/index.ts'
import { Tree } from '../tree/index.ts'
import { countEdits, findOrigin, listEdits, type OriginRow } from './file-history-store.ts'
import { oldestShown } from './history.ts'
import type { HistoryStores } from './history-stores.ts'

/** However little history is kept, the current revision and the one before are shown. */
const ALWAYS_SHOWN = 2

/** What a commit did to a file. */
export type RevisionKind = 'create' | 'edit' | 'rename' | 'move' | 'recover'

/** One file as of the commit that made it so. */
export interface Revision {
  readonly commit: NumberedCommit
  readonly kind: RevisionKind
  /** Where the file was as of this commit. */
  readonly path: LibraryPath
  /** Where it was before, if this commit moved it or a folder it is in. */
  readonly oldPath: LibraryPath | undefined
  readonly fileId: FileId
  readonly size: number
}

/** A revision before its commit is read. */
interface Mark {
  readonly seq: number
  readonly path: LibraryPath
  readonly oldPath: LibraryPath | undefined
  readonly isEdit: boolean
  /** Undefined where the file came with a folder. */
  readonly content: { readonly objectId: FileId; readonly size: number } | undefined
}

/** The revisions of a file while it stayed at one path. */
interface Stay {
  readonly path: LibraryPath
  /** The newest commit of the stay that is asked about. */
  readonly upTo: number
  /** How the file came to this path. */
  readonly origin: OriginRow | undefined
}

/** Which revisions of a file are wanted. */
export interface RevisionRange {
  readonly path: LibraryPath
  /** The newest commit to look at; it must have the file at the path. */
  readonly upTo: number
  /** The oldest commit to look at. */
  readonly oldest: number
  /** Revisions of later commits are left out, though they lead to the others. */
  readonly notAfter?: number
  readonly skip?: number
  readonly limit: number
}

/**
 * Revisions of a file, newest first, through renames and moves of it and of the folders it is in. It
 * ends where the file was added: what was at the path before is another file.
 */
export async function listRevisions(
  stores: HistoryStores,
  library: LibraryInfo,
  range: RevisionRange,
): Promise<Revision[]> {
  await stores.pathIndex.catchUp(library)
  return withCommits(stores, library, await listMarks(stores, library, range))
}

/** How many revisions of a file there are. */
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

/** The oldest commit whose state of the file at a path is shown. A file the head does not have gets no more than others. */
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
  const entry = oldest > 1 ? await new Tree(stores.objects, library.key, library.root).find(path) : undefined
  if (entry?.kind !== 'file') return oldest
  await stores.pathIndex.catchUp(library)
  const range = { path, upTo: library.headSeq, oldest: 1, limit: ALWAYS_SHOWN }
  const last = (await listMarks(stores, library, range)).at(-1)
  return Math.min(oldest, last?.seq ?? oldest)
}

/**
 * The revision that made a file of a sub-library what it was when that was first shared. It is older than anything else
 * the sub-library shows, and no other that old is shown. Undefined for what is no file now.
 */
export async function revisionWhenShared(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<{ readonly seq: number; readonly path: LibraryPath } | undefined> {
  const { sub } = library
  if (sub === undefined) return undefined
  const entry = await new Tree(stores.objects, library.key, library.root).find(path)
  if (entry?.kind !== 'file') return undefined
  await stores.pathIndex.catchUp(sub.origin)
  const range = { path: inOrigin(library, path), upTo: sub.origin.headSeq, oldest: 1, limit: 1 }
  const [mark] = await listMarks(stores, sub.origin, { ...range, notAfter: sub.sinceSeq })
  return mark
}

async function listMarks(stores: HistoryStores, library: LibraryInfo, range: RevisionRange): Promise<Mark[]> {
  const { oldest, limit } = range
  const marks: Mark[] = []
  let skip = range.skip ?? 0
  for await (const stay of staysOf(stores, library, range)) {
    // Counting is cheaper than reading, and only needed as long as something is to be skipped.
    const count = skip > 0 ? await countIn(stores, library, stay, oldest) : Number.POSITIVE_INFINITY
    if (skip < count) {
      marks.push(...(await marksIn(stores, library, stay, { oldest, skip, limit: limit - marks.length })))
    }
    skip = Math.max(0, skip - count)
    if (marks.length >= limit) break
  }
  return marks
}

/** The stays of a file, newest first. */
async function* staysOf(
  stores: HistoryStores,
  library: LibraryInfo,
  range: Pick<RevisionRange, 'path' | 'upTo' | 'oldest' | 'notAfter'>,
): AsyncGenerator<Stay> {
  const pace = new TimeSlicer()
  const { notAfter = Number.POSITIVE_INFINITY } = range
  let { path, upTo } = range
  while (upTo >= range.oldest) {
    if (pace.isDue) await pace.rest()
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

async function marksIn(
  stores: HistoryStores,
  library: LibraryInfo,
  { path, upTo, origin }: Stay,
  { oldest, skip, limit }: { oldest: number; skip: number; limit: number },
): Promise<Mark[]> {
  const after = Math.max(origin?.seq ?? 0, oldest - 1)
  const edits = await listEdits(stores.db, library.key, path, { after, upTo, skip, limit })
  const marks = edits.map((edit): Mark => {
    return { seq: edit.seq, path, oldPath: undefined, isEdit: true, content: edit }
  })
  if (marks.length < limit && origin !== undefined && origin.seq >= oldest) {
    const { seq, oldPath } = origin
    const before = oldPath && ((oldPath + path.slice(origin.path.length)) as LibraryPath)
    // What a folder brought along is found in the tree: its rows speak of folders.
    const content = origin.path === path ? origin.content : undefined
    marks.push({ seq, path, oldPath: before, isEdit: false, content })
  }
  return marks
}

async function withCommits(
  stores: HistoryStores,
  library: LibraryInfo,
  marks: readonly Mark[],
): Promise<Revision[]> {
  const commits = await listCommitsBySeq(
    stores.db,
    library,
    marks.map(({ seq }) => seq),
  )
  const revisions: Revision[] = []
  for (const mark of marks) {
    const commit = commits.get(mark.seq)
    const content = commit && (mark.content ?? (await contentAt(stores, library, commit, mark.path)))
    if (commit === undefined || content === undefined) continue
    const { path, oldPath } = mark
    const { objectId: fileId, size } = content
    revisions.push({ commit, kind: kindOf(mark, commit), path, oldPath, fileId, size })
  }
  return revisions
}

async function contentAt(
  stores: HistoryStores,
  library: LibraryInfo,
  commit: NumberedCommit,
  path: LibraryPath,
): Promise<Mark['content']> {
  const entry = await new Tree(stores.objects, library.key, commit.rootId).find(path)
  return entry?.kind === 'file' ? { objectId: entry.id, size: entry.size } : undefined
}

function kindOf(mark: Mark, { description }: NumberedCommit): RevisionKind {
  if (mark.isEdit) return 'edit'
  if (mark.oldPath !== undefined) return parentOf(mark.oldPath) === parentOf(mark.path) ? 'rename' : 'move'
  return isRecovery(description) ? 'recover' : 'create'
}
