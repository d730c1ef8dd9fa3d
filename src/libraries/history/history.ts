import { fail } from '../../base/errors.ts'
import type { CommitId } from '../../base/objects/index.ts'
import { commitRows, type NumberedCommit } from '../commits/index.ts'
import type { LibraryInfo } from '../registry/index.ts'
import { type Change, diffTrees } from '../tree/index.ts'
import { folderChanges, listFolderHistory } from './folder-history.ts'
import type { HistoryStores } from './history-stores.ts'

const DAY = 86_400

/** The services needed to compute which commits are still shown. */
export type HistorySource = Pick<HistoryStores, 'db' | 'now' | 'defaultHistoryDays'>

/** The time a number of days ago, clamped to 1970. */
export function daysAgo(stores: Pick<HistoryStores, 'now'>, days: number): number {
  return Math.max(0, stores.now() - days * DAY)
}

/** The history limit of a library in days: -1 for unlimited, 0 for no history. */
export function keepDays(stores: HistorySource, library: LibraryInfo): number {
  return Math.max(-1, library.historyDays ?? stores.defaultHistoryDays)
}

/**
 * The oldest commit number still shown. It includes the newest commit before the time limit, because the
 * first change after the limit is based on it.
 */
export async function oldestShown(stores: HistorySource, library: LibraryInfo): Promise<number> {
  const days = keepDays(stores, library)
  if (days === 0) return library.headSeq
  const emptied = Math.max(1, library.validSinceSeq)
  if (days < 0) return emptied
  return Math.max(emptied, await commitRows.seqAtTime(stores.db, library.key, daysAgo(stores, days)))
}

/**
 * A page of the history, newest first; for a sub-library the commits that changed its folder. A merge without conflicts is
 * replaced by the commits it merged. A merge with conflicts is followed by them.
 */
export async function listHistory(
  stores: HistoryStores,
  library: LibraryInfo,
  page: number,
  perPage: number,
): Promise<{ commits: NumberedCommit[]; more: boolean }> {
  const oldest = await oldestShown(stores, library)
  if (library.sub !== undefined) return listFolderHistory(stores, library, oldest, { page, perPage })
  const from = library.headSeq - (page - 1) * perPage
  const to = Math.max(oldest, from - perPage + 1)
  if (from < oldest) return { commits: [], more: false }
  const commits = await commitRows.listDown(stores.db, library, from, to)
  const isMerge = (commit: NumberedCommit) => commit.secondParentId !== null && commit.newMerge
  const merged = commits.some(isMerge) ? await commitRows.listMerged(stores.db, library, from, to) : undefined
  const shown = commits.flatMap((commit) => {
    const own = isMerge(commit) && !commit.conflict ? [] : [commit]
    return [...own, ...(merged?.get(commit.seq) ?? [])]
  })
  return { commits: shown, more: to > oldest }
}

/** A commit within the history limit. Throws commit-not-found. */
export async function getCommit(
  stores: HistoryStores,
  library: LibraryInfo,
  id: CommitId,
): Promise<NumberedCommit> {
  const commit = await commitRows.find(stores.db, library, id)
  if (commit === undefined || commit.seq < (await oldestShown(stores, library))) {
    return fail({ code: 'commit-not-found', id })
  }
  return commit
}

/** A commit and its changes. Throws commit-not-found. */
export async function getCommitDetail(
  stores: HistoryStores,
  library: LibraryInfo,
  id: CommitId,
): Promise<{ commit: NumberedCommit; changes: Change[] }> {
  const commit = await getCommit(stores, library, id)
  if (library.sub !== undefined) return folderChanges(stores, library, commit)
  if (commit.parentId === null) return { commit, changes: [] }
  const parent = await commitRows.find(stores.db, library, commit.parentId)
  if (parent === undefined) return { commit, changes: [] }
  const changes = await diffTrees(stores.objects, library.key, parent.rootId, commit.rootId)
  return { commit, changes }
}
