import { fail } from '../../base/errors.ts'
import { type DirId, EMPTY_ID } from '../../base/objects/index.ts'
import { baseName, isWithin, type LibraryPath, ROOT, seenFrom, segmentsOf } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { commitMessages, commitRows, type NumberedCommit } from '../commits/index.ts'
import { baseOf, type LibraryInfo, originOf } from '../registry/index.ts'
import { type Change, diffTrees, Tree } from '../tree/index.ts'
import type { Revision } from './file-history.ts'
import { findOrigin } from './file-history-store.ts'
import type { HistoryStores } from './history-stores.ts'

// The history of a sub-library is the history of its folder: the commits that changed it after it was first shared, at any
// path. Earlier changes and changes elsewhere are not shown.

const COMMITS_PER_QUERY = 100

/** A period during which a folder was at one path. */
export interface FolderStay {
  readonly path: LibraryPath
  /** The commit that brought the folder there; 0 if it was always there. */
  readonly since: number
  /** Its previous path. */
  readonly oldPath: LibraryPath | undefined
}

/** The path of the folder of a sub-library as of a commit; undefined if it did not exist yet. The root for a whole library. */
export async function folderAsOf(
  stores: HistoryStores,
  library: LibraryInfo,
  seq: number,
): Promise<LibraryPath | undefined> {
  if (library.sub === undefined) return ROOT
  await stores.pathIndex.catchUp(originOf(library))
  let stay = await stayOf(stores, library, baseOf(library), library.headSeq)
  while (stay.since > seq) {
    if (stay.oldPath === undefined) return undefined
    stay = await stayOf(stores, library, stay.oldPath, stay.since - 1)
  }
  return stay.path
}

/** The commit that brought the folder of a sub-library to its current path; 0 if it was always there. */
export async function folderSince(stores: HistoryStores, library: LibraryInfo): Promise<number> {
  if (library.sub === undefined) return 0
  await stores.pathIndex.catchUp(originOf(library))
  return (await stayOf(stores, library, baseOf(library), library.headSeq)).since
}

/** A range of commits, both inclusive, during which the folder of a sub-library was shown at a path of the origin. */
interface ShownStay {
  readonly path: LibraryPath
  readonly from: number
  readonly to: number
}

/**
 * The paths of the folder of a sub-library since it was shared, newest first, at most `most` periods. A commit that moved the
 * folder belongs to none, because its other changes at these paths may concern another folder.
 */
export async function folderStays(
  stores: HistoryStores,
  library: LibraryInfo,
  most: number,
): Promise<ShownStay[]> {
  if (library.sub === undefined) return []
  const { sinceSeq } = library.sub
  await stores.pathIndex.catchUp(originOf(library))
  const stays: ShownStay[] = []
  let [path, to]: [LibraryPath | undefined, number] = [baseOf(library), library.headSeq]
  while (path !== undefined && to > sinceSeq && stays.length < most) {
    const stay: FolderStay = await stayOf(stores, library, path, to)
    const from = Math.max(stay.since, sinceSeq) + 1
    if (from <= to) stays.push({ path, from, to })
    path = stay.oldPath
    to = stay.since - 1
  }
  return stays
}

/** The period up to a commit during which a folder is at a path. */
export async function stayOf(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
  upTo: number,
): Promise<FolderStay> {
  const origin = await findOrigin(stores.db, library.key, path, upTo)
  const before = origin?.oldPath && ((origin.oldPath + path.slice(origin.path.length)) as LibraryPath)
  return { path, since: origin?.seq ?? 0, oldPath: before }
}

/** The part of a commit's tree that the library shows. Throws commit-not-found if the folder did not exist. */
export async function treeAsOf(
  stores: HistoryStores,
  library: LibraryInfo,
  commit: NumberedCommit,
): Promise<Tree> {
  const whole = new Tree(stores.objects, library.key, commit.rootId)
  if (library.sub === undefined) return whole
  const folder = await folderAsOf(stores, library, commit.seq)
  if (library.sub.isFile) {
    const file = folder && (await whole.find(folder))
    if (file?.kind !== 'file') return fail({ code: 'commit-not-found', id: commit.id })
    return Tree.ofFile(stores.objects, library.key, file)
  }
  const found = folder && (await whole.findDir(folder))
  if (found === undefined) return fail({ code: 'commit-not-found', id: commit.id })
  return new Tree(stores.objects, library.key, found.dir.id)
}

/** A page of the commits that changed the folder, newest first. */
export async function listFolderHistory(
  stores: HistoryStores,
  library: LibraryInfo,
  oldest: number,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ commits: NumberedCommit[]; more: boolean }> {
  const commits: NumberedCommit[] = []
  let skip = (page - 1) * perPage
  for await (const change of changesOf(stores, library, firstListed(library, oldest))) {
    if (skip-- > 0) continue
    if (commits.length === perPage) return { commits, more: true }
    commits.push(await redactCommit(stores, library, change))
  }
  return { commits, more: false }
}

/** The changes of a commit in the folder. Throws commit-not-found if there are none. */
export async function folderChanges(
  stores: HistoryStores,
  library: LibraryInfo,
  commit: NumberedCommit,
): Promise<{ commit: NumberedCommit; changes: Change[] }> {
  if (commit.seq < firstListed(library, commit.seq)) fail({ code: 'commit-not-found', id: commit.id })
  for await (const change of changesOf(stores, library, commit.seq, commit.seq)) {
    const changes = await diffTrees(
      stores.objects,
      library.key,
      change.before ?? EMPTY_ID,
      change.after ?? EMPTY_ID,
    )
    return { commit: await redactCommit(stores, library, change), changes }
  }
  return fail({ code: 'commit-not-found', id: commit.id })
}

/** The first commit of the history: the state of the folder when it was shared is readable, but no earlier commit. */
function firstListed({ sub }: LibraryInfo, oldest: number): number {
  return Math.max(oldest, (sub?.sinceSeq ?? 0) + 1)
}

/** A commit that changed the folder, with the dirs before and after. */
interface FolderChange {
  readonly commit: NumberedCommit
  readonly parent: NumberedCommit | undefined
  readonly folder: LibraryPath
  readonly before: DirId | undefined
  readonly after: DirId | undefined
}

/** Newest first, from `newest` down to `oldest`. */
async function* changesOf(
  stores: HistoryStores,
  library: LibraryInfo,
  oldest: number,
  newest = library.headSeq,
): AsyncGenerator<FolderChange> {
  await stores.pathIndex.catchUp(originOf(library))
  const slicer = new TimeSlicer()
  let stay = await stayOf(stores, library, baseOf(library), library.headSeq)
  let later: Pick<FolderChange, 'commit' | 'folder' | 'after'> | undefined
  for await (const commit of commitsDown(stores, library, newest, Math.max(1, oldest - 1))) {
    if (slicer.isDue) await slicer.rest()
    while (commit.seq < stay.since && stay.oldPath !== undefined) {
      stay = await stayOf(stores, library, stay.oldPath, stay.since - 1)
    }
    const isThere = commit.seq >= stay.since
    const found = isThere
      ? await new Tree(stores.objects, library.key, commit.rootId).findDir(stay.path)
      : undefined
    const after = found?.dir.id
    if (later !== undefined && later.after !== after) yield { ...later, parent: commit, before: after }
    later = commit.seq >= oldest ? { commit, folder: stay.path, after } : undefined
    if (!isThere) return
  }
  if (later?.after !== undefined && later.commit.seq === 1) {
    yield { ...later, parent: undefined, before: undefined }
  }
}

async function* commitsDown(
  stores: HistoryStores,
  library: LibraryInfo,
  from: number,
  to: number,
): AsyncGenerator<NumberedCommit> {
  for (let at = from; at >= to; at -= COMMITS_PER_QUERY) {
    yield* await commitRows.listDown(stores.db, library, at, Math.max(to, at - COMMITS_PER_QUERY + 1))
  }
}

/** The commit with a generic description, unless all its changes are in the folder. The original could reveal names elsewhere. */
async function redactCommit(
  stores: HistoryStores,
  library: LibraryInfo,
  change: FolderChange,
): Promise<NumberedCommit> {
  const { commit, parent, folder } = change
  if (parent !== undefined && (await isOnlyBelow(stores, library, parent.rootId, commit.rootId, folder))) {
    return commit
  }
  return { ...commit, description: commitMessages.modified(baseName(folder)) }
}

/** Whether two trees differ only within a folder. */
async function isOnlyBelow(
  stores: HistoryStores,
  library: LibraryInfo,
  before: DirId,
  after: DirId,
  folder: LibraryPath,
): Promise<boolean> {
  let old = await stores.objects.getDir(library.key, before)
  let now = await stores.objects.getDir(library.key, after)
  for (const name of segmentsOf(folder)) {
    const [was, is] = [old.dir.resolve(name), now.dir.resolve(name)]
    if (was?.kind !== 'dir' || is?.kind !== 'dir' || was.name !== is.name) return false
    if (old.dir.with(new Map([[is.name, is]])).id !== now.dir.id) return false
    old = await stores.objects.getDir(library.key, was.id)
    now = await stores.objects.getDir(library.key, is.id)
  }
  return true
}

/** The commit that moved the entry at a path of the origin into the folder; 0 if it was always in it. */
export async function enteredFolder(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
  upTo: number,
): Promise<number> {
  if (library.sub === undefined) return 0
  let folder = await folderAsOf(stores, library, upTo)
  let [at, last] = [path, upTo]
  while (folder !== undefined && last >= library.sub.sinceSeq) {
    const origin = await findOrigin(stores.db, library.key, at, last)
    if (origin?.oldPath === undefined) return 0
    const { oldPath } = origin
    const before = (moved: LibraryPath) => (oldPath + moved.slice(origin.path.length)) as LibraryPath
    at = before(at)
    if (isWithin(folder, origin.path)) folder = before(folder)
    if (!isWithin(at, folder)) return origin.seq
    last = origin.seq - 1
  }
  return 0
}

/** Converts a revision of the origin to the paths that the library shows. */
export async function seenRevision(
  stores: HistoryStores,
  library: LibraryInfo,
  revision: Revision,
): Promise<Revision> {
  if (library.sub === undefined) return revision
  const { commit, path, oldPath } = revision
  const seen = async (one: LibraryPath, seq: number) => {
    const folder = await folderAsOf(stores, library, seq)
    return folder && seenFrom(folder, one)
  }
  const before = oldPath && (await seen(oldPath, commit.seq - 1))
  const isRename = oldPath === undefined || before !== undefined
  // A path outside the folder is not shown. The history of the file begins here.
  const kind = isRename ? revision.kind : 'create'
  // The description of the commit may reveal names elsewhere, or deleted before the folder was shared.
  const description = `${verbs[kind]} "${baseName(path)}"`
  return {
    ...revision,
    commit: { ...commit, description },
    kind,
    path: (await seen(path, commit.seq)) ?? path,
    oldPath: before,
  }
}

const verbs: Record<Revision['kind'], string> = {
  create: 'Added',
  edit: 'Modified',
  rename: 'Renamed',
  move: 'Moved',
  recover: 'Recovered',
}
