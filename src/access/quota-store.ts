import type { Reader, Transaction } from '../database/database.ts'

/** Bytes promised to uploads under way. */
export async function reservedBy(reader: Reader, ownerKey: number, now: number): Promise<number> {
  const row = await reader.get<{ reserved: number | null }>(
    'select sum(bytes) as reserved from quota_reservation where owner_key = ? and expires_at > ?',
    ownerKey,
    now,
  )
  return row?.reserved ?? 0
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

/** Makes whoever reserves for the same owner wait for this transaction. */
export async function lockOwner(tx: Transaction, ownerKey: number): Promise<void> {
  await tx.run('update account set quota = quota where key = ?', ownerKey)
}
