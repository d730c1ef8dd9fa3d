import { fail } from '../../base/errors.ts'
import type { CommitId } from '../../base/objects/index.ts'
import { below, joinPath, type LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { commitRows, type NumberedCommit } from '../commits/index.ts'
import { inOrigin, type LibraryInfo, originOf } from '../registry/index.ts'
import type { Tree } from '../tree/index.ts'
import { oldestRevisionShown, revisionWhenShared } from './file-history.ts'
import { listFirstContents, originKey } from './file-history-store.ts'
import { type FolderStay, folderAsOf, stayOf, treeAsOf } from './folder-history.ts'
import { getCommit, oldestShown } from './history.ts'
import type { HistoryStores } from './history-stores.ts'
import { findFirstSeen, listVisitorsKeys, listVisitorsKeysAmong } from './path-index-store.ts'

/** The tree of a commit within the history limit. Throws commit-not-found. */
export async function getTreeAt(stores: HistoryStores, library: LibraryInfo, id: CommitId): Promise<Tree> {
  return treeOf(stores, library, await getCommit(stores, library, id))
}

/**
 * As getTreeAt, for the newest commit at or before a time in Unix seconds. Throws commit-not-found with
 * `shown` as the text of the time.
 */
export async function getTreeAtTime(
  stores: HistoryStores,
  library: LibraryInfo,
  time: number,
  shown: string,
): Promise<Tree> {
  const seq = await commitRows.seqAtTime(stores.db, library.key, time)
  const isShown = seq > 0 && seq >= (await oldestShown(stores, library))
  const [commit] = isShown ? await commitRows.listDown(stores.db, library, seq, seq) : []
  return commit === undefined
    ? fail({ code: 'commit-not-found', id: shown })
    : treeOf(stores, library, commit)
}

/**
 * A commit for reading one path: within the history limit of the library, or in the history of the
 * file. Throws commit-not-found.
 */
export async function getCommitFor(
  stores: HistoryStores,
  library: LibraryInfo,
  id: CommitId,
  path: LibraryPath,
): Promise<NumberedCommit> {
  const commit = await commitRows.find(stores.db, library, id)
  if (commit === undefined) return fail({ code: 'commit-not-found', id })
  if (commit.seq >= (await oldestShown(stores, library))) return commit
  if (library.sub !== undefined && commit.seq < library.sub.sinceSeq) {
    const first = await revisionWhenShared(stores, library, path)
    const folder = await folderAsOf(stores, library, commit.seq)
    const isFirst = first?.seq === commit.seq && folder !== undefined && below(folder, path) === first.path
    return isFirst ? commit : fail({ code: 'commit-not-found', id })
  }
  return commit.seq >= (await oldestRevisionShown(stores, library, path))
    ? commit
    : fail({ code: 'commit-not-found', id })
}

/** The tree of a commit. Throws commit-not-found if the library is a view whose folder the commit does not have. */
export function treeOf(stores: HistoryStores, library: LibraryInfo, commit: NumberedCommit): Promise<Tree> {
  return treeAsOf(stores, library, commit)
}

/** Longer folders are not looked through: each of their paths is hashed. */
const MAX_FILES = 100_000
/** Files of a folder that are looked up by their paths. For more, those of visitors in the library are read instead. */
const MAX_LOOKED_UP = 2000
const MAX_VISITORS_FILES = 20_000
/** Former paths of a folder that are looked through. */
const MAX_MOVES = 5

type NamedFile = { readonly name: string; readonly id: string }

/**
 * The names of those files of a folder that a visitor of a link uploaded, and that still have that content. Also after the file, the folder or one
 * above it was renamed or moved.
 */
export async function listVisitorsFiles(
  stores: HistoryStores,
  library: LibraryInfo,
  folder: LibraryPath,
  files: readonly NamedFile[],
): Promise<Set<string>> {
  const names = new Set<string>()
  if (files.length === 0 || files.length > MAX_FILES) return names
  const hasSome = library.modifierViaLink || (await listVisitorsKeys(stores.db, library.key, 1)).size > 0
  if (!hasSome) return names
  // The change that a client reloads the folder for.
  await stores.pathIndex.catchUp(originOf(library))
  let [path, upTo]: [LibraryPath | undefined, number] = [inOrigin(library, folder), library.headSeq]
  for (let moves = 0; path !== undefined && moves <= MAX_MOVES; moves++) {
    for (const name of await visitorsFilesAt(stores, library.key, path, files)) names.add(name)
    const stay: FolderStay = await stayOf(stores, library, path, upTo)
    path = stay.oldPath
    upTo = stay.since - 1
  }
  return names
}

/** Those of `files` that a visitor uploaded to this folder. */
async function visitorsFilesAt(
  stores: HistoryStores,
  libraryKey: number,
  folder: LibraryPath,
  files: readonly NamedFile[],
): Promise<string[]> {
  const slicer = new TimeSlicer()
  const keyed: (NamedFile & { readonly key: Buffer; readonly hex: string })[] = []
  for (const { name, id } of files) {
    if (slicer.isDue) await slicer.rest()
    const key = originKey(joinPath(folder, name))
    keyed.push({ name, id, key, hex: key.toString('hex') })
  }
  const keys =
    files.length <= MAX_LOOKED_UP
      ? await listVisitorsKeysAmong(
          stores.db,
          libraryKey,
          keyed.map(({ key }) => key),
        )
      : await listVisitorsKeys(stores.db, libraryKey, MAX_VISITORS_FILES)
  const added = keyed.filter(({ hex }) => keys.has(hex))
  const contents = await listFirstContents(
    stores.db,
    libraryKey,
    added.map(({ key }) => key),
  )
  return added.filter(({ id, hex }) => contents.get(hex) === id).map(({ name }) => name)
}

/** The first author of a path and the time; undefined if unknown. */
export async function findOrigin(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<{ author: string; viaLink: boolean; addedAt: number } | undefined> {
  await stores.pathIndex.catchUp(originOf(library))
  return findFirstSeen(stores.db, library.key, inOrigin(library, path))
}
