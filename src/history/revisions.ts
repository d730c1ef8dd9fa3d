import {
  findCommit,
  inOrigin,
  type LibraryInfo,
  listCommitsDown,
  type NumberedCommit,
  originOf,
  seqAtTime,
} from '../commits/index.ts'
import { fail } from '../errors.ts'
import { below, type CommitId, joinPath, type LibraryPath } from '../objects/index.ts'
import type { Tree } from '../tree/index.ts'
import { oldestRevisionShown, revisionWhenShared } from './file-history.ts'
import { listFirstContents, originKey } from './file-history-store.ts'
import { folderAsOf, treeAsOf } from './folder-history.ts'
import { getCommit, oldestShown } from './history.ts'
import type { HistoryStores } from './history-stores.ts'
import { findFirstSeen, listVisitorsKeys } from './path-index-store.ts'

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
  const seq = await seqAtTime(stores.db, library.key, time)
  const isShown = seq > 0 && seq >= (await oldestShown(stores, library))
  const [commit] = isShown ? await listCommitsDown(stores.db, library, seq, seq) : []
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
  const commit = await findCommit(stores.db, library, id)
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

/** Libraries with more files of visitors, and longer folders, are not looked through. */
const MAX_VISITORS_FILES = 5000

/** The names of those files of a folder that a visitor of a link uploaded, and that still have that content. */
export async function listVisitorsFiles(
  stores: HistoryStores,
  library: LibraryInfo,
  folder: LibraryPath,
  files: readonly { readonly name: string; readonly id: string }[],
): Promise<Set<string>> {
  const names = new Set<string>()
  if (files.length === 0 || files.length > MAX_VISITORS_FILES) return names
  // The upload that a client reloads the folder for.
  if (library.modifierViaLink) await stores.pathIndex.catchUp(originOf(library))
  const keys = await listVisitorsKeys(stores.db, library.key, MAX_VISITORS_FILES)
  if (keys.size === 0) return names
  const parent = inOrigin(library, folder)
  const added = files
    .map(({ name, id }) => ({ name, id, key: originKey(joinPath(parent, name)) }))
    .filter(({ key }) => keys.has(key.toString('hex')))
  const contents = await listFirstContents(
    stores.db,
    library.key,
    added.map(({ key }) => key),
  )
  for (const { name, id, key } of added) if (contents.get(key.toString('hex')) === id) names.add(name)
  return names
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
