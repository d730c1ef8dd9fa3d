import type { Dialect, Reader, Transaction } from '../database/database.ts'

/**
 * Bytes in the libraries of an owner and bytes promised to uploads under way. One statement, so that
 * bytes a commit turns from promised into stored at this moment are counted once, neither twice nor not at all.
 */
export async function takenBy(reader: Reader, ownerKey: number, now: number): Promise<number> {
  const row = await reader.get<{ stored: number | null; reserved: number | null }>(
    `select (select sum(size) from library where owner_key = ? and deleted_at is null) as stored,
       (select sum(bytes) from quota_reservation where owner_key = ? and expires_at > ?) as reserved`,
    ownerKey,
    ownerKey,
    now,
  )
  return (row?.stored ?? 0) + (row?.reserved ?? 0)
}

export async function insertReservation(
  tx: Transaction,
  ownerKey: number,
  bytes: number,
  expiresAt: number,
): Promise<number> {
  const row = await tx.get<{ key: number }>(
    'insert into quota_reservation (owner_key, bytes, expires_at) values (?, ?, ?) returning key',
    ownerKey,
    bytes,
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

export async function deleteReservation(tx: Transaction, key: number): Promise<void> {
  await tx.run('delete from quota_reservation where key = ?', key)
}

export async function deleteReservationsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from quota_reservation where expires_at <= ?', time)
}

/** Serializes transactions that add bytes for one owner. On SQLite they run one after another anyway. */
export async function lockOwner(tx: Transaction, dialect: Dialect, ownerKey: number): Promise<void> {
  if (dialect === 'postgres')
    await tx.get('select key from account where key = ? for no key update', ownerKey)
}

/** The owner of a library and the quota of that account, 0 if it has none of its own. */
export function findOwnerQuota(
  reader: Reader,
  libraryKey: number,
): Promise<{ ownerKey: number; quota: number } | undefined> {
  return reader.get<{ ownerKey: number; quota: number }>(
    `select a.key as "ownerKey", a.quota from library l join account a on a.key = l.owner_key where l.key = ?`,
    libraryKey,
  )
}
