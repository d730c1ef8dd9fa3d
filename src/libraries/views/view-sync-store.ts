import { type Commit, type CommitId, type DirId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import { inPaddedGroups, type Reader, type Transaction } from '../../platform/database/index.ts'
import { commitRows, type NumberedCommit } from '../commits/index.ts'
import type { SubLibrary } from '../registry/index.ts'

const IDS_PER_QUERY = 500

interface SubCommitRow {
  id: Uint8Array
  root: Uint8Array
  parent: Uint8Array | null
  creator: Uint8Array
  creator_name: string
  description: string
  ctime: number
  device_name: string | null
  client_version: string | null
  seq: number | null
}

/** What the table lacks: merges and links are not pushed to views. */
const NOT_IN_VIEWS = { merged_seq: null, second_parent: null, conflict: 0, new_merge: 0, via_link: 0 }

const COLUMNS = [
  'sub_key',
  'id',
  'root',
  'parent',
  'creator',
  'creator_name',
  'description',
  'ctime',
  'device_name',
  'client_version',
  'seq',
  'received_at',
]

/** Stores a commit of a sub-library. False if its id exists already. */
export async function insertSubCommit(
  tx: Transaction,
  subKey: number,
  commit: Commit,
  known: { readonly seq: number } | { readonly receivedAt: number },
): Promise<boolean> {
  const row = [
    subKey,
    idToBytes(commit.id),
    idToBytes(commit.rootId),
    commit.parentId === null ? null : idToBytes(commit.parentId),
    Buffer.from(commit.creator, 'hex'),
    commit.creatorName ?? '',
    commit.description,
    commit.ctime,
    commit.deviceName ?? null,
    commit.clientVersion ?? null,
    'seq' in known ? known.seq : null,
    'seq' in known ? null : known.receivedAt,
  ]
  return (await tx.insertNew('sub_commit', COLUMNS, [row])) === 1
}

/** A commit. `joined`: its content was part of the folder at some time since the folder was shared. */
export async function findSubCommit(
  reader: Reader,
  sub: SubLibrary,
  id: CommitId,
): Promise<{ commit: NumberedCommit; joined: boolean } | undefined> {
  const sql = 'select * from sub_commit where sub_key = ? and id = ?'
  const row = await reader.get<SubCommitRow>(sql, sub.key, idToBytes(id))
  if (row === undefined) return undefined
  const commit = commitRows.read(sub.id, { ...row, ...NOT_IN_VIEWS })
  return { commit, joined: row.seq !== null && row.seq >= sub.sinceSeq }
}

/** Marks commits as part of the sub-library as of a commit of the origin. */
export async function joinSubCommits(
  tx: Transaction,
  subKey: number,
  ids: readonly CommitId[],
  seq: number,
): Promise<void> {
  const sql = `update sub_commit set seq = ?, received_at = null
    where sub_key = ? and id = ? and (seq is null or seq < ?)`
  for (const id of ids) await tx.run(sql, seq, subKey, idToBytes(id), seq)
}

/** Maintenance: as deleteReceivedCommitsBefore. */
export async function deleteReceivedSubCommitsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from sub_commit where received_at is not null and received_at < ?', time)
}

/** Records objects and blocks that clients of the sub-library may read. */
export async function insertSubObjects(
  tx: Transaction,
  subKey: number,
  ids: readonly string[],
  { isSent }: { isSent: boolean },
): Promise<void> {
  const unique = [...new Set(ids)].map((id) => Buffer.from(id, 'hex'))
  if (unique.length === 0) return
  const rows = unique.map((id) => [subKey, id, isSent ? 1 : 0])
  await tx.insert('sub_object', ['sub_key', 'id', 'is_sent'], rows, { ignoreExisting: true })
  if (isSent) return
  for (const { some, marks } of batches(unique)) {
    const sql = `update sub_object set is_sent = 0 where sub_key = ? and is_sent = 1 and id in (${marks})`
    await tx.run(sql, subKey, ...some)
  }
}

/** The subset of `ids` that clients may read. `orSent`: also those that a client sent and that are not checked yet. */
export async function findSubObjects<T extends string>(
  reader: Reader,
  subKey: number,
  ids: readonly T[],
  { orSent }: { orSent: boolean },
): Promise<Set<T>> {
  const found = new Set<T>()
  for (const { some, marks } of batches(ids.map((id) => Buffer.from(id, 'hex')))) {
    const rows = await reader.all<{ id: Uint8Array }>(
      `select id from sub_object where sub_key = ? and is_sent <= ? and id in (${marks})`,
      subKey,
      orSent ? 1 : 0,
      ...some,
    )
    for (const row of rows) found.add(Buffer.from(row.id).toString('hex') as T)
  }
  return found
}

function* batches(ids: readonly Buffer[]): Generator<{ some: readonly Buffer[]; marks: string }> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const some = ids.slice(start, start + IDS_PER_QUERY)
    yield { some, marks: some.map(() => '?').join(', ') }
  }
}

/** The trees of the commits that clients of the views of a library know. */
export async function listViewRoots(reader: Reader, libraryKey: number): Promise<DirId[]> {
  const rows = await reader.all<{ root: Uint8Array }>(
    `select distinct c.root from sub_commit c join sub_library s on s.key = c.sub_key where s.library_key = ?`,
    libraryKey,
  )
  return rows.map((row) => idFromBytes<DirId>(row.root))
}

/** Deletes commits of the views of a library from before a commit of the library. */
export async function deleteViewCommitsBelow(
  tx: Transaction,
  libraryKey: number,
  seq: number,
): Promise<number> {
  return tx.run(
    `delete from sub_commit where seq < ? and sub_key in (select key from sub_library where library_key = ?)`,
    seq,
    libraryKey,
  )
}

/** Deletes the rows of deleted objects in the views of a library. */
export async function deleteViewObjects(
  tx: Transaction,
  libraryKey: number,
  ids: readonly Uint8Array[],
): Promise<void> {
  for (const { some, marks } of inPaddedGroups(ids)) {
    const sql = `delete from sub_object where sub_key in (select key from sub_library where library_key = ?) and id in (${marks})`
    await tx.run(sql, libraryKey, ...some)
  }
}
