import { below, type CommitId, type LibraryPath } from '../objects/index.ts'
import type { LibraryCore } from './core.ts'
import { countRevisions, listRevisions, oldestRevisionShown, type Revision } from './file-history.ts'
import type { LibraryInfo } from './library-info.ts'
import { getCommitFor, treeOf } from './revisions.ts'
import { inOrigin, originOf } from './scope.ts'
import { enteredFolder, folderAsOf, seenRevision } from './sub-history.ts'
import { Tree } from './tree.ts'

/**
 * The revisions of a file from a commit on, newest first; from the head if none is given. `next` is the
 * commit to go on with, where the file is at the old path of the last revision, if it has one, else at its
 * path. Throws commit-not-found, path-not-found.
 */
export async function listFileHistoryFrom(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
  { start, limit }: { start?: CommitId | undefined; limit: number },
): Promise<{ revisions: Revision[]; next: CommitId | undefined }> {
  const range = await rangeOf(core, library, path, start)
  const found = await listRevisions(core, originOf(library), { ...range, limit: limit + 1 })
  return { revisions: await asShown(core, library, found.slice(0, limit)), next: found[limit]?.commit.id }
}

/** A page of the revisions of a file of the head, by its number from 1, and how many there are in all. Throws path-not-found. */
export async function listFileHistoryPage(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ revisions: Revision[]; total: number }> {
  const range = await rangeOf(core, library, path)
  const origin = originOf(library)
  const total = await countRevisions(core, origin, range)
  const skip = (page - 1) * perPage
  if (skip >= total) return { revisions: [], total }
  const found = await listRevisions(core, origin, { ...range, skip, limit: perPage })
  return { revisions: await asShown(core, library, found), total }
}

/** Which revisions in the origin the library shows of a file. */
async function rangeOf(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
  start?: CommitId,
): Promise<{ path: LibraryPath; oldest: number; upTo: number; notAfter?: number }> {
  const oldest = await oldestRevisionShown(core, library, path)
  const line = await lineAt(core, library, path, start)
  const entered = await enteredFolder(core, library, line.path, line.upTo)
  return { ...line, oldest: Math.max(oldest, entered) }
}

async function lineAt(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
  start?: CommitId,
): Promise<{ path: LibraryPath; upTo: number; notAfter?: number }> {
  const commit = start === undefined ? undefined : await getCommitFor(core, library, start, path)
  const then = commit && (await (await treeOf(core, library, commit)).find(path))
  if (commit !== undefined && then?.kind === 'file') {
    const folder = await folderAsOf(core, library, commit.seq)
    return { path: folder === undefined ? path : below(folder, path), upTo: commit.seq }
  }
  await new Tree(core.objects, library.key, library.root).getFile(path)
  const now = { path: inOrigin(library, path), upTo: library.headSeq }
  // Asked for by the path it has now, where it was not yet then.
  return commit === undefined ? now : { ...now, notAfter: commit.seq }
}

async function asShown(
  core: LibraryCore,
  library: LibraryInfo,
  revisions: readonly Revision[],
): Promise<Revision[]> {
  if (library.sub === undefined) return [...revisions]
  const shown: Revision[] = []
  for (const revision of revisions) shown.push(await seenRevision(core, library, revision))
  return shown
}
