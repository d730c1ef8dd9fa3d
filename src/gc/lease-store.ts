import type { Reader, Transaction } from '../database/index.ts'

/** Stores the lease of a process: its oldest operation began at `oldestAt`, as of `renewedAt`. */
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

/**
 * The start of the oldest operation of other processes whose lease was renewed after `since`, without nodes whose name begins with
 * `except`; undefined if there is none.
 */
export async function oldestLease(
  reader: Reader,
  node: string,
  { since, except }: { readonly since: number; readonly except: string | undefined },
): Promise<number | undefined> {
  const row = await reader.get<{ oldest: number | null }>(
    `select min(oldest_at) as oldest from operation_lease
     where node <> ? and renewed_at >= ? and substr(node, 1, ?) <> ?`,
    node,
    since,
    except?.length ?? 0,
    except ?? '-',
  )
  return row?.oldest ?? undefined
}

/** Leases with running operations that were renewed after `since`, the oldest operation first. */
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
