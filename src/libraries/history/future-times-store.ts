import type { Reader, Transaction } from '../../platform/database/index.ts'

/** Rows of the trash and the path index with a time after `limit`, in Unix seconds. */
export async function countFutureHistory(
  reader: Reader,
  limit: number,
): Promise<{ trashItems: number; paths: number }> {
  const trash = await reader.get<{ n: number }>(
    'select count(*) as n from trash_item where deleted_at > ?',
    limit,
  )
  const paths = await reader.get<{ n: number }>(
    'select count(*) as n from first_seen where added_at > ?',
    limit,
  )
  return { trashItems: trash?.n ?? 0, paths: paths?.n ?? 0 }
}

export async function repairFutureHistory(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update trash_item set deleted_at = ? where deleted_at > ?', now, limit)
  await tx.run('update first_seen set added_at = ? where added_at > ?', now, limit)
}
