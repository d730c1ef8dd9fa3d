import { type Commit, type CommitId, type DirId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { CommitOwner, NumberedCommit } from './commit-store.ts'
import { type CommitRow, commitColumns, commitFromRow, commitValues } from './commit-store.ts'

/** Stores a received commit, which no head has reached. False if one with that id exists. */
async function insertReceivedCommit(
  tx: Transaction,
  libraryKey: number,
  commit: Commit,
  now: number,
): Promise<boolean> {
  const row = [...commitValues(libraryKey, commit, null), now]
  return (await tx.insertNew('commit_object', [...commitColumns, 'received_at'], [row])) === 1
}

/** Changes the parent of a received commit that is not part of the history. */
async function setReceivedParent(
  tx: Transaction,
  libraryKey: number,
  id: CommitId,
  parent: CommitId,
): Promise<void> {
  await tx.run(
    `update commit_object set parent = ?
     where library_key = ? and id = ? and seq is null and merged_seq is null`,
    idToBytes(parent),
    libraryKey,
    idToBytes(id),
  )
}

/** A received commit that becomes part of the history. */
export interface JoiningCommit {
  readonly id: CommitId
  /** Its number, or that of the merge that includes it. */
  readonly seq: number
  readonly isMerged: boolean
  readonly ctime: number
}

/** Makes received commits part of the history. False if one of them already is, or does not exist. */
async function joinCommits(
  tx: Transaction,
  libraryKey: number,
  commits: readonly JoiningCommit[],
): Promise<boolean> {
  for (const { id, seq, isMerged, ctime } of commits) {
    const changed = await tx.run(
      `update commit_object set ${isMerged ? 'merged_seq' : 'seq'} = ?, ctime = ?, received_at = null
       where library_key = ? and id = ? and seq is null and merged_seq is null`,
      seq,
      ctime,
      libraryKey,
      idToBytes(id),
    )
    if (changed !== 1) return false
  }
  return true
}

/** A commit, received ones included, and whether a head has reached it. */
async function findAnyCommit(
  reader: Reader,
  library: CommitOwner,
  id: CommitId,
): Promise<{ commit: NumberedCommit; joined: boolean } | undefined> {
  const sql = 'select * from commit_object where library_key = ? and id = ?'
  const row = await reader.get<CommitRow>(sql, library.key, idToBytes(id))
  return (
    row && { commit: commitFromRow(library.id, row), joined: row.seq !== null || row.merged_seq !== null }
  )
}

/** A received commit that no head has reached: its tree and its parent are needed until it is pushed or dropped. */
async function listReceivedCommits(
  reader: Reader,
  libraryKey: number,
): Promise<{ root: DirId; parent: CommitId | undefined }[]> {
  const rows = await reader.all<{ root: Uint8Array; parent: Uint8Array | null }>(
    'select root, parent from commit_object where library_key = ? and received_at is not null',
    libraryKey,
  )
  return rows.map(({ root, parent }) => ({
    root: idFromBytes<DirId>(root),
    parent: parent === null ? undefined : idFromBytes<CommitId>(parent),
  }))
}

/** The keys of the libraries with commits that were sent ahead of a push. */
async function listKeysWithReceivedCommits(reader: Reader): Promise<number[]> {
  const sql = 'select distinct library_key from commit_object where received_at is not null'
  return (await reader.all<{ library_key: number }>(sql)).map(({ library_key }) => library_key)
}

/** Maintenance: deletes received commits that were never pushed. */
async function deleteReceivedCommitsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from commit_object where received_at is not null and received_at < ?', time)
}

/** Commits that clients sent ahead of a push. No head has reached them. */
export const receivedCommits = {
  insert: insertReceivedCommit,
  setParent: setReceivedParent,
  /** Also finds a commit that a head has reached. */
  find: findAnyCommit,
  list: listReceivedCommits,
  listKeys: listKeysWithReceivedCommits,
  join: joinCommits,
  deleteBefore: deleteReceivedCommitsBefore,
}
