import type { Dirent } from '../../base/objects/index.ts'
import { liveNodeRelation } from '../../platform/cluster/index.ts'
import type { Dialect, Reader, Transaction } from '../../platform/database/index.ts'
import { archiveBlockRows } from '../content/index.ts'
import type { LibraryDependent } from '../registry/index.ts'
import type { ArchiveSummary } from './archive-admission.ts'

export type ArchiveState = 'queued' | 'running' | 'finished' | 'failed' | 'canceled'
export type ArchiveFailure = 'size too large' | 'internal error'

/** The progress of an archive, in files, with the names that clients poll. It can be downloaded once `zipped` equals `total`. */
export interface ArchiveProgress {
  readonly zipped: number
  readonly total: number
  readonly failure: ArchiveFailure | undefined
  readonly canceled: boolean
}

/** Where the bytes of a finished archive are: in a file of its node, or in blocks that every node reads. */
type ArchivePlace = 'file' | 'blocks'

/** An archive as stored. */
export interface ArchiveRow {
  readonly key: number
  readonly id: string
  readonly accountKey: number
  readonly requester: string
  readonly name: string
  readonly state: ArchiveState
  readonly total: number | undefined
  readonly packed: number
  readonly failure: ArchiveFailure | undefined
  /** Bytes of the finished archive. */
  readonly size: number | undefined
  readonly place: ArchivePlace | undefined
  readonly isEncrypted: boolean
  /** The data key of an encrypted library, sealed with the ticket, until the archive is packed. */
  readonly sealedKey: Uint8Array | undefined
  readonly isFetched: boolean
  /** Unix seconds. */
  readonly finishedAt: number | undefined
  readonly nodeId: string | undefined
  /** Names one attempt at packing. */
  readonly claim: string | undefined
}

interface ReadArchiveRow {
  key: number
  id: string
  account_key: number
  requester: string
  name: string
  state: ArchiveState
  total: number | null
  packed: number
  failure: ArchiveFailure | null
  size: number | null
  place: ArchivePlace | null
  is_encrypted: number
  sealed_key: Uint8Array | null
  is_fetched: number
  finished_at: number | null
  node_id: string | null
  claim: string | null
}

const COLUMNS = `a.key, a.id, a.account_key, a.requester, a.name, a.state, a.total, a.packed, a.failure, a.size, a.place,
  a.is_encrypted, a.sealed_key, a.is_fetched, a.finished_at, a.node_id, a.claim`

function toArchive(row: ReadArchiveRow): ArchiveRow {
  return {
    key: row.key,
    id: row.id,
    accountKey: row.account_key,
    requester: row.requester,
    name: row.name,
    state: row.state,
    total: row.total ?? undefined,
    packed: row.packed,
    failure: row.failure ?? undefined,
    size: row.size ?? undefined,
    place: row.place ?? undefined,
    isEncrypted: row.is_encrypted === 1,
    sealedKey: row.sealed_key ?? undefined,
    isFetched: row.is_fetched === 1,
    finishedAt: row.finished_at ?? undefined,
    nodeId: row.node_id ?? undefined,
    claim: row.claim ?? undefined,
  }
}

export async function insertArchive(
  tx: Transaction,
  archive: {
    readonly id: string
    readonly libraryKey: number
    readonly accountKey: number
    readonly requester: string
    readonly identity: Uint8Array
    readonly roots: readonly Dirent[]
    readonly name: string
    readonly bytes: number
    readonly isEncrypted: boolean
    readonly sealedKey: Uint8Array | undefined
    readonly nodeId: string
    readonly now: number
  },
): Promise<number> {
  const row = await tx.get<{ key: number }>(
    `insert into archive (id, library_key, account_key, requester, identity, roots, name, state, bytes, is_encrypted, sealed_key,
       created_at, node_id)
     values (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?) returning key`,
    archive.id,
    archive.libraryKey,
    archive.accountKey,
    archive.requester,
    archive.identity,
    JSON.stringify(archive.roots),
    archive.name,
    archive.bytes,
    archive.isEncrypted ? 1 : 0,
    archive.sealedKey ?? null,
    archive.now,
    archive.nodeId,
  )
  if (row === undefined) throw new Error('an archive was not inserted')
  return row.key
}

/** Adds a ticket of an archive. False if the archive is gone. */
export async function insertArchiveTicket(
  tx: Transaction,
  archiveKey: number,
  ticket: {
    readonly hash: Uint8Array
    readonly expiresAt: number
    /** Undefined if its bytes open an encrypted library. */
    readonly sealed: Uint8Array | undefined
  },
): Promise<boolean> {
  const inserted = await tx.run(
    `insert into archive_ticket (hash, archive_key, expires_at, sealed_ticket)
     select ?, key, ?, ? from archive where key = ?`,
    ticket.hash,
    ticket.expiresAt,
    ticket.sealed ?? null,
    archiveKey,
  )
  return inserted === 1
}

/** The archive of a ticket, until when the ticket is valid, and whether its holder has canceled the archive. */
export async function findArchive(
  reader: Reader,
  hash: Uint8Array,
): Promise<{ archive: ArchiveRow; expiresAt: number; isCanceled: boolean } | undefined> {
  const row = await reader.get<ReadArchiveRow & { is_canceled: number; expires_at: number }>(
    `select ${COLUMNS}, t.is_canceled, t.expires_at from archive_ticket t join archive a on a.key = t.archive_key where t.hash = ?`,
    hash,
  )
  return row && { archive: toArchive(row), expiresAt: row.expires_at, isCanceled: row.is_canceled === 1 }
}

/** An unfinished or finished archive with the same content for the same requester. */
export async function findEqualArchive(
  reader: Reader,
  requester: string,
  identity: Uint8Array,
): Promise<ArchiveRow | undefined> {
  const row = await reader.get<ReadArchiveRow>(
    `select ${COLUMNS} from archive a where a.requester = ? and a.identity = ? and a.state in ('queued', 'running', 'finished')
     order by a.key limit 1`,
    requester,
    identity,
  )
  return row && toArchive(row)
}

/** The finished archives of a library whose bytes are blocks. */
export async function listStoredArchives(
  reader: Reader,
  libraryKey: number,
): Promise<{ key: number; name: string; size: number }[]> {
  return reader.all<{ key: number; name: string; size: number }>(
    `select key, name, size from archive
     where library_key = ? and state = 'finished' and place = 'blocks' order by key`,
    libraryKey,
  )
}

/** What counts against the limits, oldest first. */
export async function listArchives(reader: Reader): Promise<ArchiveSummary[]> {
  const rows = await reader.all<{
    key: number
    requester: string
    state: ArchiveState
    bytes: number
    is_fetched: number
    finished_at: number | null
  }>('select key, requester, state, bytes, is_fetched, finished_at from archive order by key')
  return rows.map((row) => ({
    key: row.key,
    requester: row.requester,
    state: row.state,
    bytes: row.bytes,
    isFetched: row.is_fetched === 1,
    finishedAt: row.finished_at ?? undefined,
  }))
}

/** Claims an unfinished archive for packing. Undefined if it has ended, or if another node that is alive has it. */
export async function claimArchive(
  tx: Transaction,
  dialect: Dialect,
  id: string,
  { claim, nodeId }: { readonly claim: string; readonly nodeId: string },
): Promise<(ArchiveRow & { readonly roots: readonly Dirent[]; readonly bytes: number }) | undefined> {
  const row = await tx.get<ReadArchiveRow & { roots: string; bytes: number }>(
    `update archive set claim = ?, node_id = ?, state = 'running', packed = 0, total = null
     where id = ? and state in ('queued', 'running')
       and (node_id is null or node_id = ? or node_id not in ${liveNodeRelation(dialect)})
     returning ${COLUMNS.replaceAll('a.', '')}, roots, bytes`,
    claim,
    nodeId,
    id,
    nodeId,
  )
  if (row === undefined) return undefined
  await archiveBlockRows.delete(tx, row.key)
  return { ...toArchive(row), roots: JSON.parse(row.roots) as Dirent[], bytes: row.bytes }
}

type Claim = { readonly id: string; readonly claim: string }

/** False if the archive was canceled or deleted, or claimed by another node. The same holds for the functions below. */
export async function advanceArchive(
  tx: Transaction,
  { id, claim }: Claim,
  { packed, total }: { readonly packed: number; readonly total: number | undefined },
): Promise<boolean> {
  const sql = `update archive set packed = ?, total = ? where id = ? and claim = ? and state = 'running'`
  return (await tx.run(sql, packed, total ?? null, id, claim)) === 1
}

export async function setArchiveBytes(
  tx: Transaction,
  { id, claim }: Claim,
  bytes: number,
): Promise<boolean> {
  const sql = `update archive set bytes = ? where id = ? and claim = ? and state = 'running'`
  return (await tx.run(sql, bytes, id, claim)) === 1
}

export async function finishArchive(
  tx: Transaction,
  { id, claim }: Claim,
  finished: {
    readonly size: number
    readonly total: number
    readonly place: ArchivePlace
    readonly now: number
  },
): Promise<boolean> {
  const { size, total, place, now } = finished
  const changed = await tx.run(
    `update archive set state = 'finished', size = ?, bytes = ?, total = ?, packed = ?, place = ?, finished_at = ?, sealed_key = null
     where id = ? and claim = ? and state = 'running'`,
    size,
    size,
    total,
    total,
    place,
    now,
    id,
    claim,
  )
  return changed === 1
}

export async function failArchive(
  tx: Transaction,
  { id, claim }: Claim,
  failed: {
    readonly failure: ArchiveFailure
    readonly packed: number
    readonly total: number | undefined
    readonly now: number
  },
): Promise<boolean> {
  const row = await tx.get<{ key: number }>(
    `update archive set state = 'failed', failure = ?, packed = ?, total = ?, bytes = 0, finished_at = ?, sealed_key = null
     where id = ? and claim = ? and state = 'running' returning key`,
    failed.failure,
    failed.packed,
    failed.total ?? null,
    failed.now,
    id,
    claim,
  )
  if (row !== undefined) await archiveBlockRows.delete(tx, row.key)
  return row !== undefined
}

/** A download has started. */
export async function setArchiveFetched(tx: Transaction, key: number): Promise<void> {
  await tx.run('update archive set is_fetched = 1 where key = ? and is_fetched = 0', key)
}

/**
 * Cancels the archive of a ticket, or only the ticket if others share the archive. Undefined if it is gone, has failed, or is canceled already.
 */
export async function cancelArchive(
  tx: Transaction,
  hash: Uint8Array,
  now: number,
): Promise<'archive' | 'ticket' | undefined> {
  const found = await findArchive(tx, hash)
  if (found === undefined || found.isCanceled) return undefined
  const { key, state } = found.archive
  if (state === 'failed' || state === 'canceled') return undefined
  const others = await tx.get(
    'select 1 as found from archive_ticket where archive_key = ? and hash <> ? and is_canceled = 0 limit 1',
    key,
    hash,
  )
  await tx.run('update archive_ticket set is_canceled = 1 where hash = ?', hash)
  if (others !== undefined) return 'ticket'
  const sql = `update archive set state = 'canceled', bytes = 0, finished_at = ?, sealed_key = null, size = null where key = ?`
  await tx.run(sql, now, key)
  await archiveBlockRows.delete(tx, key)
  return 'archive'
}

/** Deletes a ticket, and its archive with the last one. Resolves to the id of a deleted archive. */
export async function deleteArchiveTicket(tx: Transaction, hash: Uint8Array): Promise<string | undefined> {
  const sql = 'delete from archive_ticket where hash = ? returning archive_key'
  const row = await tx.get<{ archive_key: number }>(sql, hash)
  if (row === undefined) return undefined
  const archive = await tx.get<{ id: string }>(
    `delete from archive where key = ? and not exists (select 1 from archive_ticket t where t.archive_key = archive.key)
     returning id`,
    row.archive_key,
  )
  return archive?.id
}

/** Deletes expired tickets, and archives without a ticket. Resolves to the ids of the archives. */
export async function deleteExpiredArchives(tx: Transaction, now: number): Promise<string[]> {
  const expired = await tx.run('delete from archive_ticket where expires_at <= ?', now)
  if (expired === 0) return []
  const rows = await tx.all<{ id: string }>(
    'delete from archive where not exists (select 1 from archive_ticket t where t.archive_key = archive.key) returning id',
  )
  return rows.map(({ id }) => id)
}

/** Resolves to the id of a deleted archive. */
export async function deleteArchive(tx: Transaction, key: number): Promise<string | undefined> {
  return (await tx.get<{ id: string }>('delete from archive where key = ? returning id', key))?.id
}

/** Deletes the archives of a library and resolves to their ids. */
export async function deleteArchivesOf(tx: Transaction, libraryKey: number): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    'delete from archive where library_key = ? returning id',
    libraryKey,
  )
  return rows.map(({ id }) => id)
}

/** The hashes of the tickets of an archive. */
export async function listArchiveTickets(reader: Reader, id: string): Promise<Uint8Array[]> {
  const rows = await reader.all<{ hash: Uint8Array }>(
    'select t.hash from archive_ticket t join archive a on a.key = t.archive_key where a.id = ? and t.is_canceled = 0',
    id,
  )
  return rows.map(({ hash }) => hash)
}

/** The tickets of an archive that are sealed and not canceled. */
export async function listSealedTickets(reader: Reader, id: string): Promise<Uint8Array[]> {
  const rows = await reader.all<{ sealed_ticket: Uint8Array }>(
    `select t.sealed_ticket from archive_ticket t join archive a on a.key = t.archive_key
     where a.id = ? and t.is_canceled = 0 and t.sealed_ticket is not null`,
    id,
  )
  return rows.map((row) => row.sealed_ticket)
}

/** The hashes of the tickets of all archives that a node packs or has packed. */
export async function listTicketsOfNode(reader: Reader, nodeId: string): Promise<Uint8Array[]> {
  const rows = await reader.all<{ hash: Uint8Array }>(
    'select t.hash from archive_ticket t join archive a on a.key = t.archive_key where a.node_id = ?',
    nodeId,
  )
  return rows.map(({ hash }) => hash)
}

/** Names a node for ended archives of dead nodes, which checks their tickets from then on. */
export async function adoptArchives(tx: Transaction, dialect: Dialect, nodeId: string): Promise<void> {
  await tx.run(
    `update archive set node_id = ? where state not in ('queued', 'running')
       and (node_id is null or node_id not in ${liveNodeRelation(dialect)})`,
    nodeId,
  )
}

/**
 * Unfinished archives that no other live node packs, oldest first. Those of the node itself are among them: one that its packer does not hold is orphaned. Those of encrypted
 * libraries wait for a holder of their ticket, who has the key.
 */
export async function listFreeArchives(
  tx: Transaction,
  dialect: Dialect,
  nodeId: string,
  limit: number,
): Promise<{ id: string; requester: string; accountKey: number }[]> {
  const rows = await tx.all<{ id: string; requester: string; account_key: number }>(
    `select id, requester, account_key from archive where state in ('queued', 'running') and is_encrypted = 0
       and (node_id is null or node_id = ? or node_id not in ${liveNodeRelation(dialect)})
     order by key limit ?`,
    nodeId,
    limit,
  )
  return rows.map(({ id, requester, account_key }) => ({ id, requester, accountKey: account_key }))
}

/** Whether an unfinished archive has no other live node. */
export async function isFreeArchive(
  tx: Transaction,
  dialect: Dialect,
  nodeId: string,
  key: number,
): Promise<boolean> {
  const row = await tx.get(
    `select 1 as found from archive where key = ? and state in ('queued', 'running')
       and (node_id is null or node_id = ? or node_id not in ${liveNodeRelation(dialect)})`,
    key,
    nodeId,
  )
  return row !== undefined
}

/** A node stops: others pack its unfinished archives. Files of finished ones are deleted with their rows; resolves to their ids. */
export async function releaseArchives(
  tx: Transaction,
  nodeId: string,
  unfinished: readonly string[],
): Promise<string[]> {
  for (const id of unfinished) {
    await tx.run(
      `update archive set node_id = null, state = 'queued' where id = ? and node_id = ? and state in ('queued', 'running')`,
      id,
      nodeId,
    )
  }
  const rows = await tx.all<{ id: string }>(
    `delete from archive where node_id = ? and place = 'file' returning id`,
    nodeId,
  )
  return rows.map(({ id }) => id)
}

/** Deletes archives whose file was on the disk of a dead node. */
export async function deleteLostArchives(tx: Transaction, dialect: Dialect): Promise<void> {
  await tx.run(
    `delete from archive where place = 'file' and (node_id is null or node_id not in ${liveNodeRelation(dialect)})`,
  )
}

/** The ids of archives that a node packs or has packed. */
export async function listKnownArchives(reader: Reader): Promise<Set<string>> {
  const rows = await reader.all<{ id: string }>(`select id from archive where node_id is not null`)
  return new Set(rows.map(({ id }) => id))
}

/** Archives of libraries that are removed. Their files are found by their names, which no row has any more. */
export const archiveRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await deleteArchivesOf(tx, libraryKey)
  },
}
