import type { Reader, Transaction } from '../../platform/database/index.ts'

export async function insertMonitored(
  tx: Transaction,
  accountKey: number,
  libraryKey: number,
  sinceSeq: number,
): Promise<void> {
  const columns = ['account_key', 'library_key', 'since_seq']
  await tx.insert('monitored_library', columns, [[accountKey, libraryKey, sinceSeq]], {
    ignoreExisting: true,
  })
}

export async function deleteMonitored(
  tx: Transaction,
  accountKey: number,
  libraryKey: number,
): Promise<void> {
  await tx.run(
    'delete from monitored_library where account_key = ? and library_key = ?',
    accountKey,
    libraryKey,
  )
}

export async function monitoredBy(reader: Reader, accountKey: number): Promise<Set<number>> {
  const rows = await reader.all<{ library_key: number }>(
    'select library_key from monitored_library where account_key = ?',
    accountKey,
  )
  return new Set(rows.map((row) => row.library_key))
}

/** The accounts that monitor a library, and since which commit. */
export async function listWatchers(
  reader: Reader,
  libraryKey: number,
): Promise<{ accountKey: number; sinceSeq: number }[]> {
  const rows = await reader.all<{ account_key: number; since_seq: number }>(
    'select account_key, since_seq from monitored_library where library_key = ? order by account_key',
    libraryKey,
  )
  return rows.map((row) => ({ accountKey: row.account_key, sinceSeq: row.since_seq }))
}
