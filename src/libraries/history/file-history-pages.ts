import type { CommitId } from '../../base/objects/index.ts'
import { below, type LibraryPath } from '../../base/paths/index.ts'
import type { NumberedCommit } from '../commits/index.ts'
import { inOrigin, type LibraryInfo, originOf } from '../registry/index.ts'
import { Tree } from '../tree/index.ts'
import {
  countRevisions,
  findLastContent,
  listRevisions,
  oldestRevisionShown,
  type Revision,
} from './file-history.ts'
import { enteredFolder, folderAsOf, seenRevision } from './folder-history.ts'
import type { HistoryStores } from './history-stores.ts'
import { getCommitFor, treeOf } from './revisions.ts'

/**
 * The revisions of a file from a commit on, newest first; from the head by default. `next` is the commit
 * to continue with. The file is then at the old path of the last revision, or at its path if it has none.
 * Throws commit-not-found, path-not-found.
 */
export async function listFileHistoryFrom(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
  { start, limit }: { start?: CommitId | undefined; limit: number },
): Promise<{ revisions: Revision[]; next: CommitId | undefined }> {
  const range = await rangeOf(stores, library, path, start)
  const found = await listRevisions(stores, originOf(library), { ...range, limit: limit + 1 })
  return { revisions: await asShown(stores, library, found.slice(0, limit)), next: found[limit]?.commit.id }
}

/** The commit that last changed the content of a file, or added it. Renames and moves do not count. */
export function findContentCommit(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
): Promise<NumberedCommit | undefined> {
  return findLastContent(stores, originOf(library), inOrigin(library, path))
}

/** A page of the revisions of a file of the head, numbered from 1, and their total number. Throws path-not-found. */
export async function listFileHistoryPage(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ revisions: Revision[]; total: number }> {
  const range = await rangeOf(stores, library, path)
  const origin = originOf(library)
  const total = await countRevisions(stores, origin, range)
  const skip = (page - 1) * perPage
  if (skip >= total) return { revisions: [], total }
  const found = await listRevisions(stores, origin, { ...range, skip, limit: perPage })
  return { revisions: await asShown(stores, library, found), total }
}

/** The range of revisions in the origin that the library shows of a file. */
async function rangeOf(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
  start?: CommitId,
): Promise<{ path: LibraryPath; oldest: number; upTo: number; notAfter?: number }> {
  const oldest = await oldestRevisionShown(stores, library, path)
  const line = await lineAt(stores, library, path, start)
  const entered = await enteredFolder(stores, library, line.path, line.upTo)
  return { ...line, oldest: Math.max(oldest, entered) }
}

async function lineAt(
  stores: HistoryStores,
  library: LibraryInfo,
  path: LibraryPath,
  start?: CommitId,
): Promise<{ path: LibraryPath; upTo: number; notAfter?: number }> {
  const commit = start === undefined ? undefined : await getCommitFor(stores, library, start, path)
  const then = commit && (await (await treeOf(stores, library, commit)).find(path))
  if (commit !== undefined && then?.kind === 'file') {
    const folder = await folderAsOf(stores, library, commit.seq)
    return { path: folder === undefined ? path : below(folder, path), upTo: commit.seq }
  }
  await new Tree(stores.objects, library.key, library.root, library.rootDir).getFile(path)
  const now = { path: inOrigin(library, path), upTo: library.headSeq }
  // The file is not at this path in the start commit, so its current path is used.
  return commit === undefined ? now : { ...now, notAfter: commit.seq }
}

async function asShown(
  stores: HistoryStores,
  library: LibraryInfo,
  revisions: readonly Revision[],
): Promise<Revision[]> {
  if (library.sub === undefined) return [...revisions]
  const shown: Revision[] = []
  for (const revision of revisions) shown.push(await seenRevision(stores, library, revision))
  return shown
}
