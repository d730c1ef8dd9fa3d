import type { CommitId } from '../objects/ids.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { LibraryCore } from './core.ts'
import { countRevisions, listRevisions, oldestRevisionShown, type Revision } from './file-history.ts'
import type { LibraryInfo } from './library-info.ts'
import { getCommitFor, treeOf } from './revisions.ts'
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
  const oldest = await oldestRevisionShown(core, library, path)
  const where = await lineAt(core, library, path, start)
  const found = await listRevisions(core, library, { path, oldest, ...where, limit: limit + 1 })
  return { revisions: found.slice(0, limit), next: found[limit]?.commit.id }
}

/** A page of the revisions of a file of the head, by its number from 1, and how many there are in all. Throws path-not-found. */
export async function listFileHistoryPage(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ revisions: Revision[]; total: number }> {
  const oldest = await oldestRevisionShown(core, library, path)
  const range = { path, oldest, ...(await lineAt(core, library, path)) }
  const total = await countRevisions(core, library, range)
  const skip = (page - 1) * perPage
  if (skip >= total) return { revisions: [], total }
  return { revisions: await listRevisions(core, library, { ...range, skip, limit: perPage }), total }
}

async function lineAt(
  core: LibraryCore,
  library: LibraryInfo,
  path: LibraryPath,
  start?: CommitId,
): Promise<{ upTo: number; notAfter?: number }> {
  const commit = start === undefined ? undefined : await getCommitFor(core, library, start, path)
  const then = commit && (await treeOf(core, library, commit).find(path))
  if (commit !== undefined && then?.kind === 'file') return { upTo: commit.seq }
  await new Tree(core.objects, library.key, library.root).getFile(path)
  // Asked for by the path it has now, where it was not yet then.
  return commit === undefined ? { upTo: library.headSeq } : { upTo: library.headSeq, notAfter: commit.seq }
}
