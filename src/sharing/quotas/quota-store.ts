import type { LibraryDependent } from '../../libraries/registry/index.ts'
import { libraryRows, librarySizes } from '../../libraries/registry/index.ts'
import {
  type Account,
  type AccountDependent,
  type Accounts,
  accountRows,
} from '../../people/accounts/index.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'

/** Who uploads: the owner of the library, another account, or the visitor of a link. */
export type Guest = 0 | 1 | 2
export const OWN = 0
export const MEMBER = 1
export const VISITOR = 2

/** Idle time after which a visitor's unfinished upload is deleted. Others are kept for three days. */
const VISITOR_IDLE_SECONDS = 600
const KEPT_SECONDS = 3 * 86_400
/** Idle time after which an unfinished upload of the owner may be evicted for another upload. */
const OWN_IDLE_SECONDS = 3600

/** Bytes charged to an owner. */
export interface Taken {
  /** In the owner's libraries. */
  readonly stored: number
  /** Reserved for running requests: in total, by guests, by visitors. */
  readonly reserved: number
  readonly guestReserved: number
  readonly visitorReserved: number
  /** Received for unfinished uploads: in total, evictable for the owner, by visitors. */
  readonly unfinished: number
  readonly evictable: number
  readonly visitorUnfinished: number
}

/** A page of accounts in the order of the file size of their libraries. */
export async function listAccountsByUsage(
  reader: Reader,
  query: Omit<Parameters<Accounts['list']>[0], 'orderBy'>,
): Promise<Account[]> {
  const { condition, parameters } = accountRows.condition(query)
  const rows = await reader.all<Parameters<typeof accountRows.read>[0]>(
    `select ${accountRows.columns} from ${accountRows.relation} account where ${condition}
     order by ${librarySizes.ownedBytes('account.key')} ${query.descending ? 'desc' : 'asc'}, key limit ? offset ?`,
    ...parameters,
    query.limit,
    query.offset ?? 0,
  )
  return rows.map(accountRows.read)
}

/** A reservation to exclude, and an upload that restarts, whose earlier bytes are about to be deleted. */
export interface NotCounted {
  readonly reservation?: number | undefined
  readonly restarted?: UploadSource & { readonly total: number }
}

/** The account or link that chunks arrive through. */
export interface UploadSource {
  readonly libraryKey: number
  readonly accountKey: number
  /** 0 for none. */
  readonly linkKey: number
}

/**
 * Bytes charged to an owner. A single statement, so that bytes a concurrent commit turns from reserved into
 * stored are counted exactly once.
 */
export async function takenBy(
  reader: Reader,
  ownerKey: number,
  now: number,
  { reservation = 0, restarted }: NotCounted = {},
): Promise<Taken> {
  const row = await reader.get<Record<string, number | null>>(
    `select (select ${librarySizes.fileSizeSum} from ${libraryRows.relation} l where l.owner_key = ? and l.deleted_at is null) as stored,
       r.reserved, r.guest_reserved, r.visitor_reserved, u.unfinished, u.evictable, u.visitor_unfinished
     from (
       select sum(bytes) as reserved, sum(case when guest > ${OWN} then bytes end) as guest_reserved,
         sum(case when guest = ${VISITOR} then bytes end) as visitor_reserved
       from quota_reservation where owner_key = ? and expires_at > ? and key <> ?
     ) r cross join (
       select sum(p.received) as unfinished, sum(case when p.guest = ${VISITOR} then p.received end) as visitor_unfinished,
         sum(case when p.guest > ${OWN} or p.updated_at <= ? then p.received end) as evictable
       from partial_upload p join ${libraryRows.relation} l on l.key = p.library_key
       where l.owner_key = ? and p.updated_at >= case p.guest when ${VISITOR} then cast(? as bigint) else cast(? as bigint) end
         and not (p.library_key = ? and p.account_key = ? and p.link_key = ? and p.total = ?)
     ) u`,
    ownerKey,
    ownerKey,
    now,
    reservation,
    now - OWN_IDLE_SECONDS,
    ownerKey,
    now - VISITOR_IDLE_SECONDS,
    now - KEPT_SECONDS,
    restarted?.libraryKey ?? 0,
    restarted?.accountKey ?? 0,
    restarted?.linkKey ?? 0,
    restarted?.total ?? 0,
  )
  return {
    stored: row?.['stored'] ?? 0,
    reserved: row?.['reserved'] ?? 0,
    guestReserved: row?.['guest_reserved'] ?? 0,
    visitorReserved: row?.['visitor_reserved'] ?? 0,
    unfinished: row?.['unfinished'] ?? 0,
    evictable: row?.['evictable'] ?? 0,
    visitorUnfinished: row?.['visitor_unfinished'] ?? 0,
  }
}

export async function insertReservation(
  tx: Transaction,
  ownerKey: number,
  { bytes, guest, expiresAt }: { bytes: number; guest: Guest; expiresAt: number },
): Promise<number> {
  const row = await tx.get<{ key: number }>(
    'insert into quota_reservation (owner_key, bytes, guest, expires_at) values (?, ?, ?, ?) returning key',
    ownerKey,
    bytes,
    guest,
    expiresAt,
  )
  if (row === undefined) throw new Error('a reservation got no key')
  return row.key
}

export async function hasReservation(reader: Reader, key: number): Promise<boolean> {
  return (await reader.get('select key from quota_reservation where key = ?', key)) !== undefined
}

export async function prolongReservation(tx: Transaction, key: number, expiresAt: number): Promise<void> {
  await tx.run('update quota_reservation set expires_at = ? where key = ?', expiresAt, key)
}

/** False if there is no such reservation any more. */
export async function setReservation(
  tx: Transaction,
  key: number,
  { bytes, expiresAt }: { readonly bytes: number; readonly expiresAt: number },
): Promise<boolean> {
  const sql = 'update quota_reservation set bytes = ?, expires_at = ? where key = ?'
  return (await tx.run(sql, bytes, expiresAt, key)) === 1
}

export async function deleteReservation(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from quota_reservation where key = ?', key)
}

export async function deleteReservationsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from quota_reservation where expires_at <= ?', time)
}

/** The owner of a library and the account's own quota; 0 if it has none. */
export async function findOwnerQuota(
  reader: Reader,
  libraryKey: number,
): Promise<{ ownerKey: number; quota: number } | undefined> {
  return reader.get<{ ownerKey: number; quota: number }>(
    `select a.key as "ownerKey", a.quota
     from ${libraryRows.relation} l join ${accountRows.briefRelation} a on a.key = l.owner_key where l.key = ?`,
    libraryKey,
  )
}

/** SQL expression for the quota of an account itself, given the column with its key. */
export function quotaOf(owner: string): string {
  return `(select a.quota from ${accountRows.briefRelation} a where a.key = ${owner})`
}

/** An unfinished upload that may be evicted. */
interface Evictable {
  readonly key: number
  readonly received: number
}

/** Evictable uploads in the order of eviction: guests first, then by idle time. */
export async function listEvictable(reader: Reader, ownerKey: number, now: number): Promise<Evictable[]> {
  return reader.all<{ key: number; received: number }>(
    `select p.key, p.received from partial_upload p join ${libraryRows.relation} l on l.key = p.library_key
     where l.owner_key = ? and (p.guest > ${OWN} or p.updated_at <= ?)
     order by p.guest desc, p.updated_at, p.key`,
    ownerKey,
    now - OWN_IDLE_SECONDS,
  )
}

/** Reservations of guests, largest first. */
export async function listGuestReservations(
  reader: Reader,
  ownerKey: number,
): Promise<{ key: number; bytes: number }[]> {
  return reader.all<{ key: number; bytes: number }>(
    `select key, bytes from quota_reservation where owner_key = ? and guest > ${OWN} order by bytes desc, key`,
    ownerKey,
  )
}

export async function evictPartial(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from partial_upload where key = ?', key)
}

/** Deletes idle unfinished uploads of one owner or of all. Garbage collection frees their blocks. */
export async function deleteExpiredPartials(tx: Transaction, now: number, ownerKey?: number): Promise<void> {
  const whose =
    ownerKey === undefined
      ? ''
      : `and library_key in (select l.key from ${libraryRows.relation} l where l.owner_key = ?)`
  await tx.run(
    `delete from partial_upload where updated_at < case guest when ${VISITOR} then cast(? as bigint) else cast(? as bigint) end ${whose}`,
    now - VISITOR_IDLE_SECONDS,
    now - KEPT_SECONDS,
    ...(ownerKey === undefined ? [] : [ownerKey]),
  )
}

/** Number of unfinished uploads of one account, or through one link. */
export async function countUnfinished(
  reader: Reader,
  { accountKey, linkKey }: UploadSource,
): Promise<number> {
  const row = await reader.get<{ n: number }>(
    'select count(*) as n from partial_upload where account_key = ? and link_key = ?',
    accountKey,
    linkKey,
  )
  return row?.n ?? 0
}

/** Unfinished uploads into a library: their number, received bytes, and when the last of them expires unless continued. */
export async function summarizeUnfinished(
  reader: Reader,
  libraryKey: number,
): Promise<{ uploads: number; bytes: number; endsAt: number } | undefined> {
  const row = await reader.get<{ uploads: number; bytes: number | null; endsAt: number | null }>(
    `select count(*) as uploads, sum(received) as bytes,
       max(updated_at + case guest when ${VISITOR} then ${VISITOR_IDLE_SECONDS} else ${KEPT_SECONDS} end) as "endsAt"
     from partial_upload where library_key = ?`,
    libraryKey,
  )
  if (row?.endsAt == null) return undefined
  return { uploads: row.uploads, bytes: row.bytes ?? 0, endsAt: row.endsAt }
}

/** Unfinished uploads and reservations of libraries and accounts that are removed. */
export const quotaRows: Pick<LibraryDependent, 'onPurged'> & AccountDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from partial_upload where library_key = ?', libraryKey)
  },

  async onAccountRemoved(tx, { key }) {
    await tx.run('delete from partial_upload where account_key = ?', key)
    await tx.run('delete from quota_reservation where owner_key = ?', key)
  },
}
