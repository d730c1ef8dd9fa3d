import type { Reader, Transaction } from '../../platform/database/index.ts'

/** API tokens with a last use after `limit`, in Unix seconds, which would not expire. */
export async function countFutureSignIns(reader: Reader, limit: number): Promise<{ signIns: number }> {
  const found = await reader.get<{ n: number }>(
    'select count(*) as n from api_token where last_used_at > ?',
    limit,
  )
  return { signIns: found?.n ?? 0 }
}

export async function repairFutureSignIns(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update api_token set last_used_at = ? where last_used_at > ?', now, limit)
}
