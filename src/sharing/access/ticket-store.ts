import { type FsId, idFromBytes, idToBytes } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { type MaybePromise, whenReady } from '../../base/scheduling/index.ts'
import type { CredentialOrigin } from '../../people/credentials/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import type { Sender } from './link.ts'
import type { TicketOperation } from './tickets.ts'

/** A ticket as stored: its operation, expiry and origin. */
export interface TicketRow {
  readonly operation: TicketOperation
  readonly libraryKey: number
  /** The epoch of the library when it was issued. */
  readonly libraryEpoch: number
  /** The sub-library it was issued in. It opens nothing else. */
  readonly subKey: number | undefined
  /** Without an epoch if a link issued it. */
  readonly origin: CredentialOrigin
  readonly path: LibraryPath
  /** The only file an update ticket replaces; undefined until its first use. */
  readonly target: LibraryPath | undefined
  readonly objectId: FsId | undefined
  /** Time of the object's revision, Unix seconds. */
  readonly modifiedAt: number | undefined
  readonly reusable: boolean
  /** Unix seconds. */
  readonly expiresAt: number
  /** The issuing link, and its epoch at that time. */
  readonly link: { readonly key: number; readonly epoch: number } | undefined
  /** The visitor of an upload link, if it asks who they are. */
  readonly sender: Sender | undefined
}

const COLUMNS = [
  'hash',
  'operation',
  'library_key',
  'library_epoch',
  'sub_key',
  'account_key',
  'epoch',
  'api_token_key',
  'scoped_token_key',
  'path',
  'target',
  'object_id',
  'modified_at',
  'reusable',
  'expires_at',
  'link_key',
  'link_epoch',
  'sender',
]

export async function insertTickets(
  tx: Transaction,
  tickets: readonly { hash: Uint8Array; ticket: TicketRow }[],
): Promise<void> {
  const rows = tickets.map(({ hash, ticket }) => [
    hash,
    ticket.operation,
    ticket.libraryKey,
    ticket.libraryEpoch,
    ticket.subKey ?? null,
    ticket.origin.accountKey,
    ticket.origin.epoch ?? null,
    ticket.origin.apiTokenKey ?? null,
    ticket.origin.scopedTokenKey ?? null,
    ticket.path,
    ticket.target ?? null,
    ticket.objectId === undefined ? null : idToBytes(ticket.objectId),
    ticket.modifiedAt ?? null,
    ticket.reusable ? 1 : 0,
    ticket.expiresAt,
    ticket.link?.key ?? null,
    ticket.link?.epoch ?? 0,
    ticket.sender === undefined ? null : JSON.stringify(ticket.sender),
  ])
  await tx.insert('ticket', COLUMNS, rows)
}

/** An issued ticket, regardless of whether its origin is still valid. */
export function findTicket(reader: Reader, hash: Uint8Array): MaybePromise<TicketRow | undefined> {
  return whenReady(reader.get<StoredTicket>(BY_HASH, hash), (row) => {
    if (row === undefined) return undefined
    const known = converted.get(row)
    if (known !== undefined) return known
    const ticket = ticketFromRow(row)
    converted.set(row, ticket)
    return ticket
  })
}

/** The row cache may return the same row object again: a client that reads a file in ranges sends one ticket each time. */
const converted = new WeakMap<StoredTicket, TicketRow>()

function ticketFromRow(row: StoredTicket): TicketRow {
  return {
    operation: row.operation,
    libraryKey: row.library_key,
    libraryEpoch: row.library_epoch,
    subKey: row.sub_key ?? undefined,
    origin: {
      accountKey: row.account_key,
      epoch: row.epoch ?? undefined,
      apiTokenKey: row.api_token_key ?? undefined,
      scopedTokenKey: row.scoped_token_key ?? undefined,
    },
    path: row.path as LibraryPath,
    target: (row.target ?? undefined) as LibraryPath | undefined,
    objectId: row.object_id === null ? undefined : idFromBytes<FsId>(row.object_id),
    modifiedAt: row.modified_at ?? undefined,
    reusable: row.reusable === 1,
    expiresAt: row.expires_at,
    link: row.link_key === null ? undefined : { key: row.link_key, epoch: row.link_epoch },
    sender: row.sender === null ? undefined : (JSON.parse(row.sender) as Sender),
  }
}

interface StoredTicket {
  operation: TicketOperation
  library_key: number
  library_epoch: number
  sub_key: number | null
  account_key: number
  epoch: number | null
  api_token_key: number | null
  scoped_token_key: number | null
  path: string
  target: string | null
  object_id: Uint8Array | null
  modified_at: number | null
  reusable: number
  expires_at: number
  link_key: number | null
  link_epoch: number
  sender: string | null
}

const BY_HASH = `select ${COLUMNS.slice(1).join(', ')} from ticket where hash = ?`

/** Binds an update ticket to a file. False if it is bound to another one, or deleted. */
export async function bindTicket(tx: Transaction, hash: Uint8Array, target: LibraryPath): Promise<boolean> {
  const sql = 'update ticket set target = ? where hash = ? and (target is null or target = ?)'
  return (await tx.run(sql, target, hash, target)) === 1
}

/** False if another request already consumed it. */
export async function deleteTicket(tx: Transaction, hash: Uint8Array): Promise<boolean> {
  return (await tx.run('delete from ticket where hash = ?', hash)) === 1
}

export async function deleteTicketsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from ticket where expires_at <= ?', time)
}

/** The objects that valid tickets of a library open. */
export async function listTicketObjects(reader: Reader, libraryKey: number, now: number): Promise<FsId[]> {
  const rows = await reader.all<{ object_id: Uint8Array }>(
    'select distinct object_id from ticket where library_key = ? and object_id is not null and expires_at >= ?',
    libraryKey,
    now,
  )
  return rows.map((row) => idFromBytes<FsId>(row.object_id))
}
