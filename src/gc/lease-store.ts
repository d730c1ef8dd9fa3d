import type { Reader, Transaction } from '../database/index.ts'

/** Stores what a process works on: since `oldestAt`, as of `renewedAt`. */
export async function putLease(
  tx: Transaction,
  { node, oldestAt, renewedAt }: { node: string; oldestAt: number; renewedAt: number },
): Promise<void> {
  await tx.run(
    `insert into operation_lease (node, oldest_at, renewed_at) values (?, ?, ?)
     on conflict (node) do update set oldest_at = excluded.oldest_at, renewed_at = excluded.renewed_at`,
    node,
    oldestAt,
    renewedAt,
  )
}

export async function deleteLease(tx: Transaction, node: string): Promise<void> {
  await tx.run('delete from operation_lease where node = ?', node)
}

export async function deleteLeasesBefore(tx: Transaction, time: number): Promise<void> {
  await tx.run('delete from operation_lease where renewed_at < ?', time)
}

/** Since when other processes work on something, of those renewed after `since`; undefined if there are none. */
export async function oldestLease(reader: Reader, node: string, since: number): Promise<number | undefined> {
  const row = await reader.get<{ oldest: number | null }>(
    'select min(oldest_at) as oldest from operation_lease where node <> ? and renewed_at >= ?',
    node,
    since,
  )
  return row?.oldest ?? undefined
}

/** Processes that work on something, of those renewed after `since`. The longest first. */
export async function listLeases(
  reader: Reader,
  since: number,
): Promise<{ node: string; oldestAt: number; renewedAt: number }[]> {
  const rows = await reader.all<{ node: string; oldest_at: number; renewed_at: number }>(
    'select node, oldest_at, renewed_at from operation_lease where renewed_at >= ? order by oldest_at, node',
    since,
  )
  return rows.map((row) => ({ node: row.node, oldestAt: row.oldest_at, renewedAt: row.renewed_at }))
}
