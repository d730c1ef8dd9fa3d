import { fail } from '../errors.ts'
import type { CommitId } from '../objects/index.ts'
import {
  findCommit,
  listCommitsDown,
  listMergedCommits,
  type NumberedCommit,
  seqAtTime,
} from './commit-store.ts'
import type { LibraryCore } from './core.ts'
import { type Change, diffTrees } from './diff.ts'
import type { Also } from './libraries.ts'
import type { Library } from './library.ts'
import type { LibraryInfo } from './library-info.ts'
import { raiseValidSince, setHistoryDays } from './library-store.ts'
import { folderChanges, listFolderHistory } from './sub-history.ts'

const DAY = 86_400

/** As much of the core as it takes to say what is still shown. */
export type HistorySource = Pick<LibraryCore, 'db' | 'now' | 'defaultHistoryDays'>

/** The time so many days ago, never before 1970: days can be any number. */
export function daysAgo(core: Pick<LibraryCore, 'now'>, days: number): number {
  return Math.max(0, core.now() - days * DAY)
}

/** Days of history this library keeps: -1 for all, 0 for none. */
export function keepDays(core: HistorySource, library: LibraryInfo): number {
  return Math.max(-1, library.historyDays ?? core.defaultHistoryDays)
}

/** Sets the days of history kept; any negative number means all. */
export async function setKeepDays(
  core: LibraryCore,
  library: LibraryInfo,
  days: number,
  also?: Also,
): Promise<number> {
  const kept = Math.max(-1, days)
  await core.db.write(async (tx) => {
    await setHistoryDays(tx, library.key, kept)
    await also?.(tx)
  })
  return kept
}

/**
 * The oldest commit number still shown. The commit at the cut is shown too: it is the state the
 * first change after the cut began from.
 */
export async function oldestShown(core: HistorySource, library: LibraryInfo): Promise<number> {
  const days = keepDays(core, library)
  if (days === 0) return library.headSeq
  const emptied = Math.max(1, library.validSinceSeq)
  if (days < 0) return emptied
  return Math.max(emptied, await seqAtTime(core.db, library.key, daysAgo(core, days)))
}

/**
 * A page of the history, newest first; of a sub-library: what changed its folder. In place of a merge without conflict
 * stands what it brought in; what a merge with conflicts brought in follows it.
 */
export async function listHistory(
  core: LibraryCore,
  library: LibraryInfo,
  page: number,
  perPage: number,
): Promise<{ commits: NumberedCommit[]; more: boolean }> {
  const oldest = await oldestShown(core, library)
  if (library.sub !== undefined) return listFolderHistory(core, library, oldest, { page, perPage })
  const from = library.headSeq - (page - 1) * perPage
  const to = Math.max(oldest, from - perPage + 1)
  if (from < oldest) return { commits: [], more: false }
  const commits = await listCommitsDown(core.db, library, from, to)
  const isMerge = (commit: NumberedCommit) => commit.secondParentId !== null && commit.newMerge
  const merged = commits.some(isMerge) ? await listMergedCommits(core.db, library, from, to) : undefined
  const shown = commits.flatMap((commit) => {
    const own = isMerge(commit) && !commit.conflict ? [] : [commit]
    return [...own, ...(merged?.get(commit.seq) ?? [])]
  })
  return { commits: shown, more: to > oldest }
}

/** A commit that the history still shows. Throws commit-not-found. */
export async function getCommit(
  core: LibraryCore,
  library: LibraryInfo,
  id: CommitId,
): Promise<NumberedCommit> {
  const commit = await findCommit(core.db, library, id)
  if (commit === undefined || commit.seq < (await oldestShown(core, library))) {
    return fail({ code: 'commit-not-found', id })
  }
  return commit
}

/** A commit and what it changed. Throws commit-not-found. */
export async function getCommitDetail(
  core: LibraryCore,
  library: LibraryInfo,
  id: CommitId,
): Promise<{ commit: NumberedCommit; changes: Change[] }> {
  const commit = await getCommit(core, library, id)
  if (library.sub !== undefined) return folderChanges(core, library, commit)
  if (commit.parentId === null) return { commit, changes: [] }
  const parent = await findCommit(core.db, library, commit.parentId)
  if (parent === undefined) return { commit, changes: [] }
  const changes = await diffTrees(core.objects, library.key, parent.rootId, commit.rootId)
  return { commit, changes }
}

/** Hides history and trash up to the head (0 days) or up to what is older than `days`. Never un-hides. */
export async function emptyTrash(
  core: LibraryCore,
  { info: library, actor }: Pick<Library, 'info' | 'actor'>,
  days: number,
  also?: Also,
): Promise<void> {
  const seq = days <= 0 ? library.headSeq : await seqAtTime(core.db, library.key, daysAgo(core, days))
  await core.db.write(async (tx) => {
    await raiseValidSince(tx, library.key, seq)
    await core.events.record(tx, { kind: 'trash-emptied', library, actor, days })
    await also?.(tx)
  })
}
