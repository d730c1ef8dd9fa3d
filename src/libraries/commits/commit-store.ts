import {
  type Commit,
  type CommitId,
  type DirId,
  idFromBytes,
  idToBytes,
  type LibraryId,
} from '../../base/objects/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** A commit with its number in the history of its library. */
export interface NumberedCommit extends Commit {
  readonly seq: number
  /** A visitor of a link made the change; the creator of the commit is the creator of the link. */
  readonly viaLink?: boolean
}

interface CommitRow {
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
  'via_link',
]

/** Identifies the library whose commits are read. */
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
    commits.map((commit) => rowOf(libraryKey, commit, commit.seq)),
  )
}

/** A commit of another server and its number, or that of the merge that includes it. */
export interface ImportedCommit {
  readonly commit: Commit
  readonly seq: number
  readonly isMerged: boolean
}

/** Stores commits with their place in the history. Existing rows are kept. */
export async function insertImportedCommits(
  tx: Transaction,
  libraryKey: number,
  commits: readonly ImportedCommit[],
): Promise<void> {
  await tx.insert(
    'commit_object',
    [...COLUMNS, 'merged_seq'],
    commits.map(({ commit, seq, isMerged }) => [
      ...rowOf(libraryKey, commit, isMerged ? null : seq),
      isMerged ? seq : null,
    ]),
    { ignoreExisting: true },
  )
}

function rowOf(libraryKey: number, commit: Commit & Pick<NumberedCommit, 'viaLink'>, seq: number | null) {
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

/** Stores a received commit, which no head has reached. False if one with that id exists. */
export async function insertReceivedCommit(
  tx: Transaction,
  libraryKey: number,
  commit: Commit,
  now: number,
): Promise<boolean> {
  const row = [...rowOf(libraryKey, commit, null), now]
  return (await tx.insertNew('commit_object', [...COLUMNS, 'received_at'], [row])) === 1
}

/** Changes the parent of a received commit that is not part of the history. */
export async function setReceivedParent(
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
export async function joinCommits(
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
export async function findAnyCommit(
  reader: Reader,
  library: CommitOwner,
  id: CommitId,
): Promise<{ commit: NumberedCommit; joined: boolean } | undefined> {
  const sql = 'select * from commit_object where library_key = ? and id = ?'
  const row = await reader.get<CommitRow>(sql, library.key, idToBytes(id))
  return row && { commit: toCommit(library.id, row), joined: row.seq !== null || row.merged_seq !== null }
}

/** Commits included by the merges numbered `from` down to `to`, by number of the merge, newest first. */
export async function listMergedCommits(
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
    rows.map((row) => toCommit(library.id, row)),
    (commit) => commit.seq,
  )
}

/** Maintenance: deletes received commits that were never pushed. */
export async function deleteReceivedCommitsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from commit_object where received_at is not null and received_at < ?', time)
}

/** The keys of the libraries with commits that were sent ahead of a push. */
export async function listKeysWithReceivedCommits(reader: Reader): Promise<number[]> {
  const sql = 'select distinct library_key from commit_object where received_at is not null'
  return (await reader.all<{ library_key: number }>(sql)).map(({ library_key }) => library_key)
}

/** Finds only commits that a head has reached. One that a merge included has the number of the merge. */
export async function findCommit(
  reader: Reader,
  library: CommitOwner,
  id: CommitId,
): Promise<NumberedCommit | undefined> {
  const sql =
    'select * from commit_object where library_key = ? and id = ? and (seq is not null or merged_seq is not null)'
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

/** Commits by number. */
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
    for (const row of rows) if (row.seq !== null) found.set(row.seq, toCommit(library.id, row))
  }
  return found
}

/** The newest commit number with a time not after `time`; 0 if there is none. */
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

/** A received commit that no head has reached: its tree and its parent are needed until it is pushed or dropped. */
export async function listReceivedCommits(
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

/** Deletes up to `limit` commits below a number, except those that a received commit is based on. */
export async function deleteCommitsBelow(
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
