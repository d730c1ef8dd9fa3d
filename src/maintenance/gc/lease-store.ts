import type { Database, Reader, Transaction } from '../../platform/database/index.ts'

/** The row of a process: its oldest operation began at `oldestAt`, as of `renewedAt`. */
export interface LeaseRow {
  /** Its name. A lease that another process has ended has another name, which ends in `FENCED`. */
  readonly node: string
  readonly oldestAt: number
  readonly renewedAt: number
}

/** The end of the names of leases that were ended by another process, and that transactions may have found before. */
export const FENCED = '/fenced'

/** Finds a row as long as the lease is held. */
export const leaseQuery = 'select 1 as held from operation_lease where node = ?'

export async function insertLease(tx: Transaction, { node, oldestAt, renewedAt }: LeaseRow): Promise<void> {
  await tx.insert('operation_lease', ['node', 'oldest_at', 'renewed_at'], [[node, oldestAt, renewedAt]])
}

/** False if the lease has ended. It is not restored: what it protected may be deleted. */
export async function renewLease(tx: Transaction, { node, oldestAt, renewedAt }: LeaseRow): Promise<boolean> {
  const sql = 'update operation_lease set oldest_at = ?, renewed_at = ? where node = ?'
  return (await tx.run(sql, oldestAt, renewedAt, node)) === 1
}

export async function isLeaseHeld(reader: Reader, node: string): Promise<boolean> {
  return (await reader.get(leaseQuery, node)) !== undefined
}

export async function deleteLease(tx: Transaction, node: string): Promise<void> {
  await tx.run('delete from operation_lease where node = ?', node)
}

/**
 * Ends a lease, unless it was renewed since it was read. From now on its holder commits nothing. The row stays under another name until the transactions that were running have
 * ended, because they may have found it.
 */
export async function fenceLease(tx: Transaction, { node, renewedAt }: LeaseRow): Promise<void> {
  const sql = 'update operation_lease set node = ? where node = ? and renewed_at = ?'
  await tx.run(sql, `${node}${FENCED}`, node, renewedAt)
}

/** All leases, the oldest operation first. */
export async function listLeases(reader: Reader): Promise<LeaseRow[]> {
  const rows = await reader.all<{ node: string; oldest_at: number; renewed_at: number }>(
    'select node, oldest_at, renewed_at from operation_lease order by oldest_at, node',
  )
  return rows.map((row) => ({ node: row.node, oldestAt: row.oldest_at, renewedAt: row.renewed_at }))
}

/** The number of the newest transaction; undefined on SQLite, whose transactions that write run one after the other. */
export async function newestTransaction(db: Database): Promise<number | undefined> {
  if (db.dialect === 'sqlite') return undefined
  const sql = 'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as newest'
  return (await db.get<{ newest: number }>(sql))?.newest
}

/** Whether all transactions before the numbered one have ended. */
export async function haveEndedBefore(reader: Reader, transaction: number): Promise<boolean> {
  const sql = 'select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest'
  const row = await reader.get<{ oldest: number }>(sql)
  return row !== undefined && row.oldest >= transaction
}
