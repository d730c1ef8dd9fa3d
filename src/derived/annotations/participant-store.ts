import type { Reader, Transaction } from '../../platform/database/index.ts'

/** The accounts that are notified of comments on a file, by key. */
export async function listParticipants(reader: Reader, fileKey: number): Promise<number[]> {
  const sql = 'select account_key from file_participant where file_key = ? order by account_key'
  return (await reader.all<{ account_key: number }>(sql, fileKey)).map((row) => row.account_key)
}

/** Idempotent. */
export async function insertParticipants(
  tx: Transaction,
  fileKey: number,
  accountKeys: Iterable<number>,
): Promise<void> {
  const rows = [...new Set(accountKeys)].map((accountKey) => [fileKey, accountKey])
  if (rows.length === 0) return
  await tx.insert('file_participant', ['file_key', 'account_key'], rows, { ignoreExisting: true })
}

export async function deleteParticipant(tx: Transaction, fileKey: number, accountKey: number): Promise<void> {
  await tx.run('delete from file_participant where file_key = ? and account_key = ?', fileKey, accountKey)
}
