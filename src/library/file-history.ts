import { type FileId, type LibraryPath, parentOf } from '../objects/index.ts'
import { listCommitsBySeq, type NumberedCommit } from './commit-store.ts'
import type { LibraryCore } from './core.ts'
import { isRecovery } from './describe.ts'
import { countEdits, findOrigin, listEdits, type OriginRow } from './file-history-store.ts'
import { oldestShown } from './history.ts'
import type { LibraryInfo } from './library-info.ts'
import { Pace } from './pace.ts'
import { inOrigin } from './scope.ts'
import { Tree } from './tree.ts'

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
  core: LibraryCore,
  library: LibraryInfo,
  range: RevisionRange,
): Promise<Revision[]> {
  await core.pathIndex.catchUp(library)
  return withCommits(core, library, await listMarks(core, library, range))
}

/** How many revisions of a file there are. */
export async function countRevisions(
  core: LibraryCore,
  library: LibraryInfo,
  range: Omit<RevisionRange, 'skip' | 'limit'>,
): Promise<number> {
  await core.pathIndex.catchUp(library)
  let count = 0
  for await (const stay of staysOf(core, library, range))
    count += await countIn(core, library, stay, range.oldest)
  return count
}

/** The oldest commit whose state of the file at a path is shown. A file the head does not have gets no more than others. */
export async function oldestRevisionShown(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<number> {
  const { sub } = library
  if (sub !== undefined) {
    const shown = await oldestRevisionShown(core, sub.origin, inOrigin(library, path))
    if (shown > sub.sinceSeq) return shown
    return (await revisionWhenShared(core, library, path))?.seq ?? sub.sinceSeq
  }
  const oldest = await oldestShown(core, library)
  const entry = oldest > 1 ? await new Tree(core.objects, library.key, library.root).find(path) : undefined
  if (entry?.kind !== 'file') return oldest
  await core.pathIndex.catchUp(library)
  const range = { path, upTo: library.headSeq, oldest: 1, limit: ALWAYS_SHOWN }
  const last = (await listMarks(core, library, range)).at(-1)
  return Math.min(oldest, last?.seq ?? oldest)
}

/**
 * The revision that made a file of a sub-library what it was when that was first shared. It is older than anything else
 * the sub-library shows, and no other that old is shown. Undefined for what is no file now.
 */
export async function revisionWhenShared(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<{ readonly seq: number; readonly path: LibraryPath } | undefined> {
  const { sub } = library
  if (sub === undefined) return undefined
  const entry = await new Tree(core.objects, library.key, library.root).find(path)
  if (entry?.kind !== 'file') return undefined
  await core.pathIndex.catchUp(sub.origin)
  const range = { path: inOrigin(library, path), upTo: sub.origin.headSeq, oldest: 1, limit: 1 }
  const [mark] = await listMarks(core, sub.origin, { ...range, notAfter: sub.sinceSeq })
  return mark
}

async function listMarks(core: LibraryCore, library: LibraryInfo, range: RevisionRange): Promise<Mark[]> {
  const { oldest, limit } = range
  const marks: Mark[] = []
  let skip = range.skip ?? 0
  for await (const stay of staysOf(core, library, range)) {
    // Counting is cheaper than reading, and only needed as long as something is to be skipped.
    const count = skip > 0 ? await countIn(core, library, stay, oldest) : Number.POSITIVE_INFINITY
    if (skip < count) {
      marks.push(...(await marksIn(core, library, stay, { oldest, skip, limit: limit - marks.length })))
    }
    skip = Math.max(0, skip - count)
    if (marks.length >= limit) break
  }
  return marks
}

/** The stays of a file, newest first. */
async function* staysOf(
  core: LibraryCore,
  library: LibraryInfo,
  range: Pick<RevisionRange, 'path' | 'upTo' | 'oldest' | 'notAfter'>,
): AsyncGenerator<Stay> {
  const pace = new Pace()
  const { notAfter = Number.POSITIVE_INFINITY } = range
  let { path, upTo } = range
  while (upTo >= range.oldest) {
    if (pace.isDue) await pace.rest()
    const origin = await findOrigin(core.db, library.key, path, upTo)
    if ((origin?.seq ?? 0) <= notAfter) yield { path, upTo: Math.min(upTo, notAfter), origin }
    if (origin?.oldPath === undefined) return
    path = (origin.oldPath + path.slice(origin.path.length)) as LibraryPath
    upTo = origin.seq - 1
  }
}

async function countIn(
  core: LibraryCore,
  library: LibraryInfo,
  { path, upTo, origin }: Stay,
  oldest: number,
): Promise<number> {
  const after = Math.max(origin?.seq ?? 0, oldest - 1)
  const edits = await countEdits(core.db, library.key, path, { after, upTo })
  return edits + (origin !== undefined && origin.seq >= oldest ? 1 : 0)
}

async function marksIn(
  core: LibraryCore,
  library: LibraryInfo,
  { path, upTo, origin }: Stay,
  { oldest, skip, limit }: { oldest: number; skip: number; limit: number },
): Promise<Mark[]> {
  const after = Math.max(origin?.seq ?? 0, oldest - 1)
  const edits = await listEdits(core.db, library.key, path, { after, upTo, skip, limit })
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
  core: LibraryCore,
  library: LibraryInfo,
  marks: readonly Mark[],
): Promise<Revision[]> {
  const commits = await listCommitsBySeq(
    core.db,
    library,
    marks.map(({ seq }) => seq),
  )
  const revisions: Revision[] = []
  for (const mark of marks) {
    const commit = commits.get(mark.seq)
    const content = commit && (mark.content ?? (await contentAt(core, library, commit, mark.path)))
    if (commit === undefined || content === undefined) continue
    const { path, oldPath } = mark
    const { objectId: fileId, size } = content
    revisions.push({ commit, kind: kindOf(mark, commit), path, oldPath, fileId, size })
  }
  return revisions
}

async function contentAt(
  core: LibraryCore,
  library: LibraryInfo,
  commit: NumberedCommit,
  path: LibraryPath,
): Promise<Mark['content']> {
  const entry = await new Tree(core.objects, library.key, commit.rootId).find(path)
  return entry?.kind === 'file' ? { objectId: entry.id, size: entry.size } : undefined
}

function kindOf(mark: Mark, { description }: NumberedCommit): RevisionKind {
  if (mark.isEdit) return 'edit'
  if (mark.oldPath !== undefined) return parentOf(mark.oldPath) === parentOf(mark.path) ? 'rename' : 'move'
  return isRecovery(description) ? 'recover' : 'create'
}
