import {
  type Commit,
  type CommitId,
  type DirId,
  idFromBytes,
  idToBytes,
  type LibraryId,
} from '../../base/objects/index.ts'
import { deleteBatch, type Reader, type Transaction } from '../../platform/database/index.ts'
import { libraryRows } from '../registry/index.ts'

/** A commit with its number in the history of its library. */
export interface NumberedCommit extends Commit {
  readonly seq: number
  /** A visitor of a link made the change; the creator of the commit is the creator of the link. */
  readonly viaLink?: boolean
}

export interface CommitRow {
  id: Uint8Array
  seq: number | null
  merged_seq: number | null
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
  via_link: number
}

export const commitColumns = [
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
  'via_link',
]

/** Identifies the library whose commits are read. */
export interface CommitOwner {
  readonly key: number
  readonly id: LibraryId
}

async function insertCommits(
  tx: Transaction,
  libraryKey: number,
  commits: readonly NumberedCommit[],
): Promise<void> {
  await tx.insert(
    'commit_object',
    commitColumns,
    commits.map((commit) => commitValues(libraryKey, commit, commit.seq)),
  )
}

/** A commit of another server and its number, or that of the merge that includes it. */
export interface ImportedCommit {
  readonly commit: Commit
  readonly seq: number
  readonly isMerged: boolean
}

/** Stores commits with their place in the history. Existing rows are kept. */
async function insertImportedCommits(
  tx: Transaction,
  libraryKey: number,
  commits: readonly ImportedCommit[],
): Promise<void> {
  await tx.insert(
    'commit_object',
    [...commitColumns, 'merged_seq'],
    commits.map(({ commit, seq, isMerged }) => [
      ...commitValues(libraryKey, commit, isMerged ? null : seq),
      isMerged ? seq : null,
    ]),
    { ignoreExisting: true },
  )
}

export function commitValues(
  libraryKey: number,
  commit: Commit & Pick<NumberedCommit, 'viaLink'>,
  seq: number | null,
) {
  return [
    libraryKey,
    idToBytes(commit.id),
    seq,
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
    commit.viaLink === true ? 1 : 0,
  ]
}

/** Commits included by the merges numbered `from` down to `to`, by number of the merge, newest first. */
async function listMergedCommits(
  reader: Reader,
  library: CommitOwner,
  from: number,
  to: number,
): Promise<Map<number, NumberedCommit[]>> {
  const rows = await reader.all<CommitRow>(
    `select * from commit_object where library_key = ? and merged_seq <= ? and merged_seq >= ?
     order by merged_seq desc, ctime desc, id`,
    library.key,
    from,
    to,
  )
  return Map.groupBy(
    rows.map((row) => commitFromRow(library.id, row)),
    (commit) => commit.seq,
  )
}

/** Finds only commits that a head has reached. One that a merge included has the number of the merge. */
async function findCommit(
  reader: Reader,
  library: CommitOwner,
  id: CommitId,
): Promise<NumberedCommit | undefined> {
  const sql =
    'select * from commit_object where library_key = ? and id = ? and (seq is not null or merged_seq is not null)'
  const row = await reader.get<CommitRow>(sql, library.key, idToBytes(id))
  return row && commitFromRow(library.id, row)
}

/** Commits numbered `from` down to `to`, newest first. */
async function listCommitsDown(
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
  return rows.map((row) => commitFromRow(library.id, row))
}

/** Commits by number. */
async function listCommitsBySeq(
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
    for (const row of rows) if (row.seq !== null) found.set(row.seq, commitFromRow(library.id, row))
  }
  return found
}

/** The newest commit number with a time not after `time`; 0 if there is none. */
async function seqAtTime(reader: Reader, libraryKey: number, time: number): Promise<number> {
  const row = await reader.get<{ seq: number }>(
    'select seq from commit_object where library_key = ? and seq is not null and ctime <= ? order by seq desc limit 1',
    libraryKey,
    time,
  )
  return row?.seq ?? 0
}

export function commitFromRow(libraryId: LibraryId, row: CommitRow): NumberedCommit {
  return {
    id: idFromBytes<CommitId>(row.id),
    seq: row.seq ?? row.merged_seq ?? 0,
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
    ...(row.via_link === 1 && { viaLink: true }),
  }
}

/** Deletes up to `limit` commits below a number, except those that a received commit is based on. */
async function deleteCommitsBelow(
  tx: Transaction,
  libraryKey: number,
  seq: number,
  limit: number,
): Promise<number> {
  return tx.run(
    `delete from commit_object where library_key = ? and id in (
       select c.id from commit_object c
       where c.library_key = ? and (c.seq < ? or c.merged_seq < ?) and not exists (
         select 1 from commit_object r where r.library_key = c.library_key and r.received_at is not null and r.parent = c.id
       ) limit ?
     )`,
    libraryKey,
    libraryKey,
    seq,
    seq,
    limit,
  )
}

/** The rows of commits that a head has reached. */
export const commitRows = {
  /** All commits, as a subquery to be joined. `received_at` is set for those that are not part of the history. */
  relation: '(select library_key, description, received_at from commit_object)',
  find: findCommit,
  listDown: listCommitsDown,
  listBySeq: listCommitsBySeq,
  listMerged: listMergedCommits,
  seqAtTime,
  read: commitFromRow,
  insert: insertCommits,
  insertImported: insertImportedCommits,
  deleteBelow: deleteCommitsBelow,
  /** Deletes the commits of a purged library, received ones included. */
  purgeBatch: (tx: Transaction, libraryKey: number, limit: number) =>
    deleteBatch(tx, 'commit_object', 'id', libraryKey, limit),
}

// Times that a server with a wrong clock wrote. Retention compares them with the clock, so they would never expire.

/** Rows of commits and libraries with a time after `limit`, in Unix seconds. */
async function countFuture(reader: Reader, limit: number): Promise<{ commits: number; libraries: number }> {
  const commits = await reader.get<{ n: number }>(
    'select count(*) as n from commit_object where ctime > ?',
    limit,
  )
  return { commits: commits?.n ?? 0, libraries: await libraryRows.countFuture(reader, limit) }
}

/** Sets these times to `now`: what they date from is unknown, and a later time only keeps data for longer. */
async function repairFuture(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update commit_object set ctime = ? where ctime > ?', now, limit)
  await libraryRows.repairFuture(tx, limit, now)
}

/** Commits and libraries with times in the future. */
export const futureCommits = { count: countFuture, repair: repairFuture }
