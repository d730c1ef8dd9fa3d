import type { Reader, Transaction } from '../../platform/database/index.ts'

// Bytes that failed and canceled tasks have stored, by account. No quota counts them, and they stay on the disk until garbage
// collection frees them. In the database, because any node may work on a task.

/** Garbage collection has freed what a task left behind by then, with the default grace period. */
const KEPT_SECONDS = 2 * 86_400

/** `now` in Unix seconds. */
export async function insertAbandoned(
  tx: Transaction,
  accountKey: number,
  bytes: number,
  now: number,
): Promise<void> {
  await tx.insert('abandoned_bytes', ['account_key', 'at', 'bytes'], [[accountKey, now, bytes]])
}

export async function abandonedBytesOf(reader: Reader, accountKey: number, now: number): Promise<number> {
  const row = await reader.get<{ bytes: number | null }>(
    'select cast(sum(bytes) as bigint) as bytes from abandoned_bytes where account_key = ? and at > ?',
    accountKey,
    now - KEPT_SECONDS,
  )
  return row?.bytes ?? 0
}

/** Deletes rows that count no more. */
export async function deleteOldAbandoned(tx: Transaction, now: number): Promise<number> {
  return tx.run('delete from abandoned_bytes where at <= ?', now - KEPT_SECONDS)
}
