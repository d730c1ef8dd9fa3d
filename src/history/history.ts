import {
  type Also,
  findCommit,
  type LibraryInfo,
  listCommitsDown,
  listMergedCommits,
  type NumberedCommit,
  seqAtTime,
  setHistoryDays,
} from '../commits/index.ts'
import { fail } from '../errors.ts'
import type { CommitId } from '../objects/index.ts'
import { type Change, diffTrees } from '../tree/index.ts'
import { folderChanges, listFolderHistory } from './folder-history.ts'
import type { HistoryStores } from './history-stores.ts'

const DAY = 86_400

/** As much of the core as it takes to say what is still shown. */
export type HistorySource = Pick<HistoryStores, 'db' | 'now' | 'defaultHistoryDays'>

/** The time so many days ago, never before 1970: days can be any number. */
export function daysAgo(stores: Pick<HistoryStores, 'now'>, days: number): number {
  return Math.max(0, stores.now() - days * DAY)
}

/** Days of history this library keeps: -1 for all, 0 for none. */
export function keepDays(stores: HistorySource, library: LibraryInfo): number {
  return Math.max(-1, library.historyDays ?? stores.defaultHistoryDays)
}

/** Sets the days of history kept; any negative number means all. */
export async function setKeepDays(
  stores: HistoryStores,
  library: LibraryInfo,
  days: number,
  also?: Also,
): Promise<number> {
  const kept = Math.max(-1, days)
  await stores.db.write(async (tx) => {
    await setHistoryDays(tx, library.key, kept)
    await also?.(tx)
  })
  return kept
}

/**
 * The oldest commit number still shown. The commit at the cut is shown too: it is the state the
 * first change after the cut began from.
 */
export async function oldestShown(stores: HistorySource, library: LibraryInfo): Promise<number> {
  const days = keepDays(stores, library)
  if (days === 0) return library.headSeq
  const emptied = Math.max(1, library.validSinceSeq)
  if (days < 0) return emptied
  return Math.max(emptied, await seqAtTime(stores.db, library.key, daysAgo(stores, days)))
}

/**
 * A page of the history, newest first; of a sub-library: what changed its folder. In place of a merge without conflict
 * stands what it brought in; what a merge with conflicts brought in follows it.
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
  const commits = await listCommitsDown(stores.db, library, from, to)
  const isMerge = (commit: NumberedCommit) => commit.secondParentId !== null && commit.newMerge
  const merged = commits.some(isMerge) ? await listMergedCommits(stores.db, library, from, to) : undefined
  const shown = commits.flatMap((commit) => {
    const own = isMerge(commit) && !commit.conflict ? [] : [commit]
    return [...own, ...(merged?.get(commit.seq) ?? [])]
  })
  return { commits: shown, more: to > oldest }
}

/** A commit that the history still shows. Throws commit-not-found. */
export async function getCommit(
  stores: HistoryStores,
  library: LibraryInfo,
  id: CommitId,
): Promise<NumberedCommit> {
  const commit = await findCommit(stores.db, library, id)
  if (commit === undefined || commit.seq < (await oldestShown(stores, library))) {
    return fail({ code: 'commit-not-found', id })
  }
  return commit
}

/** A commit and what it changed. Throws commit-not-found. */
export async function getCommitDetail(
  stores: HistoryStores,
  library: LibraryInfo,
  id: CommitId,
): Promise<{ commit: NumberedCommit; changes: Change[] }> {
  const commit = await getCommit(stores, library, id)
  if (library.sub !== undefined) return folderChanges(stores, library, commit)
  if (commit.parentId === null) return { commit, changes: [] }
  const parent = await findCommit(stores.db, library, commit.parentId)
  if (parent === undefined) return { commit, changes: [] }
  const changes = await diffTrees(stores.objects, library.key, parent.rootId, commit.rootId)
  return { commit, changes }
}
