import type { Reader, Transaction } from '../database/database.ts'
import { type FsId, idFromBytes, idToBytes } from '../objects/ids.ts'
import type { LibraryPath } from '../objects/paths.ts'
import type { TicketOperation } from './tickets.ts'

/** A ticket as it rests: what it opens, for whom and until when. */
export interface TicketRow {
  readonly operation: TicketOperation
  readonly libraryKey: number
  /** Of the sub-library it was issued in: it opens nothing else. */
  readonly subKey: number | undefined
  readonly accountKey: number
  /** The scoped token it was asked for with; it ends with that. */
  readonly scopedTokenKey: number | undefined
  readonly path: LibraryPath
  readonly objectId: FsId | undefined
  /** When the object's version was made, Unix seconds. */
  readonly modifiedAt: number | undefined
  readonly reusable: boolean
  /** Unix seconds. */
  readonly expiresAt: number
  /** The link it was given out by. */
  readonly linkKey: number | undefined
}

const COLUMNS = [
  'hash',
  'operation',
  'library_key',
  'sub_key',
  'account_key',
  'scoped_token_key',
  'path',
  'object_id',
  'modified_at',
  'reusable',
  'expires_at',
  'link_key',
]

export async function insertTickets(
  tx: Transaction,
  tickets: readonly { hash: Uint8Array; ticket: TicketRow }[],
): Promise<void> {
  const rows = tickets.map(({ hash, ticket }) => [
    hash,
    ticket.operation,
    ticket.libraryKey,
    ticket.subKey ?? null,
    ticket.accountKey,
    ticket.scopedTokenKey ?? null,
    ticket.path,
    ticket.objectId === undefined ? null : idToBytes(ticket.objectId),
    ticket.modifiedAt ?? null,
    ticket.reusable ? 1 : 0,
    ticket.expiresAt,
    ticket.linkKey ?? null,
  ])
  await tx.insert('ticket', COLUMNS, rows)
}

export async function findTicket(
  reader: Reader,
  hash: Uint8Array,
  now: number,
): Promise<TicketRow | undefined> {
  const row = await reader.get<{
    operation: TicketOperation
    library_key: number
    sub_key: number | null
    account_key: number
    scoped_token_key: number | null
    path: string
    object_id: Uint8Array | null
    modified_at: number | null
    reusable: number
    expires_at: number
    link_key: number | null
  }>(
    `select operation, library_key, sub_key, account_key, scoped_token_key, path, object_id, modified_at, reusable,
       expires_at, link_key from ticket where hash = ? and expires_at > ?`,
    hash,
    now,
  )
  return (
    row && {
      operation: row.operation,
      libraryKey: row.library_key,
      subKey: row.sub_key ?? undefined,
      accountKey: row.account_key,
      scopedTokenKey: row.scoped_token_key ?? undefined,
      path: row.path as LibraryPath,
      objectId: row.object_id === null ? undefined : idFromBytes<FsId>(row.object_id),
      modifiedAt: row.modified_at ?? undefined,
      reusable: row.reusable === 1,
      expiresAt: row.expires_at,
      linkKey: row.link_key ?? undefined,
    }
  )
}

/** False if somebody else burnt it first. */
export async function deleteTicket(tx: Transaction, hash: Uint8Array): Promise<boolean> {
  return (await tx.run('delete from ticket where hash = ?', hash)) === 1
}

export async function deleteTicketsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from ticket where expires_at <= ?', time)
}
