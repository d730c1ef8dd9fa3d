import type { Reader, Transaction } from '../database/database.ts'
import type { Commit } from '../objects/commit.ts'
import { type CommitId, type DirId, idFromBytes, idToBytes, type LibraryId } from '../objects/ids.ts'

/** A commit with its number in the history of its library. */
export interface NumberedCommit extends Commit {
  readonly seq: number
}

interface CommitRow {
  id: Uint8Array
  seq: number
  root: Uint8Array
  parent: Uint8Array | null
  second_parent: Uint8Array | null
  creator: Uint8Array
  creator_name: string
  description: string
  ctime: number
  device_name: string | null
  client_version: string | null
  conflict: number
  new_merge: number
}

const COLUMNS = [
  'library_key',
  'id',
  'seq',
  'root',
  'parent',
  'second_parent',
  'creator',
  'creator_name',
  'description',
  'ctime',
  'device_name',
  'client_version',
  'conflict',
  'new_merge',
]

/** Where a library's commits are read from. */
export interface CommitOwner {
  readonly key: number
  readonly id: LibraryId
}

export async function insertCommits(
  tx: Transaction,
  libraryKey: number,
  commits: readonly NumberedCommit[],
): Promise<void> {
  await tx.insert(
    'commit_object',
    COLUMNS,
    commits.map((commit) => [
      libraryKey,
      idToBytes(commit.id),
      commit.seq,
      idToBytes(commit.rootId),
      commit.parentId === null ? null : idToBytes(commit.parentId),
      commit.secondParentId === null ? null : idToBytes(commit.secondParentId),
      Buffer.from(commit.creator, 'hex'),
      commit.creatorName ?? '',
      commit.description,
      commit.ctime,
      commit.deviceName ?? null,
      commit.clientVersion ?? null,
      commit.conflict ? 1 : 0,
      commit.newMerge ? 1 : 0,
    ]),
  )
}

/** Only commits that a head has reached are found. */
export async function findCommit(
  reader: Reader,
  library: CommitOwner,
  id: CommitId,
): Promise<NumberedCommit | undefined> {
  const sql = 'select * from commit_object where library_key = ? and id = ? and seq is not null'
  const row = await reader.get<CommitRow>(sql, library.key, idToBytes(id))
  return row && toCommit(library.id, row)
}

/** Commits numbered `from` down to `to`, newest first. */
export async function listCommitsDown(
  reader: Reader,
  library: CommitOwner,
  from: number,
  to: number,
): Promise<NumberedCommit[]> {
  const rows = await reader.all<CommitRow>(
    'select * from commit_object where library_key = ? and seq <= ? and seq >= ? order by seq desc',
    library.key,
    from,
    to,
  )
  return rows.map((row) => toCommit(library.id, row))
}

/** Commits by their numbers. */
export async function listCommitsBySeq(
  reader: Reader,
  library: CommitOwner,
  seqs: readonly number[],
): Promise<Map<number, NumberedCommit>> {
  const found = new Map<number, NumberedCommit>()
  for (let start = 0; start < seqs.length; start += 500) {
    const some = seqs.slice(start, start + 500)
    const rows = await reader.all<CommitRow>(
      `select * from commit_object where library_key = ? and seq in (${some.map(() => '?').join(', ')})`,
      library.key,
      ...some,
    )
    for (const row of rows) found.set(row.seq, toCommit(library.id, row))
  }
  return found
}

/** The newest commit number whose time is not after `time`; 0 if there is none. */
export async function seqAtTime(reader: Reader, libraryKey: number, time: number): Promise<number> {
  const row = await reader.get<{ seq: number }>(
    'select seq from commit_object where library_key = ? and seq is not null and ctime <= ? order by seq desc limit 1',
    libraryKey,
    time,
  )
  return row?.seq ?? 0
}

function toCommit(libraryId: LibraryId, row: CommitRow): NumberedCommit {
  return {
    id: idFromBytes<CommitId>(row.id),
    seq: row.seq,
    libraryId,
    rootId: idFromBytes<DirId>(row.root),
    parentId: row.parent === null ? null : idFromBytes<CommitId>(row.parent),
    secondParentId: row.second_parent === null ? null : idFromBytes<CommitId>(row.second_parent),
    creator: Buffer.from(row.creator).toString('hex'),
    creatorName: row.creator_name === '' ? undefined : row.creator_name,
    description: row.description,
    ctime: row.ctime,
    deviceName: row.device_name ?? undefined,
    clientVersion: row.client_version ?? undefined,
    conflict: row.conflict === 1,
    newMerge: row.new_merge === 1,
  }
}
