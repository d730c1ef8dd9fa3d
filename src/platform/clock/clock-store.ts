import type { Reader, Transaction } from '../database/index.ts'

/** The newest time that a server trusted, in Unix seconds, and how often an operator confirmed the clock. */
interface SeenTime {
  readonly seenAt: number
  readonly confirmations: number
}

export async function findSeenTime(reader: Reader): Promise<SeenTime | undefined> {
  const row = await reader.get<{ seen_at: number; confirmations: number }>('select * from clock_state')
  return row && { seenAt: row.seen_at, confirmations: row.confirmations }
}

/** Records a trusted time. An older one than the stored one changes nothing. */
export async function putSeenTime(tx: Transaction, time: number): Promise<void> {
  await tx.insert('clock_state', ['key', 'seen_at', 'confirmations'], [[1, time, 0]], {
    ignoreExisting: true,
  })
  await tx.run('update clock_state set seen_at = ? where seen_at < ?', time, time)
}

/** An operator says that `time` is right, whatever was trusted before. */
export async function confirmTime(tx: Transaction, time: number): Promise<void> {
  await putSeenTime(tx, time)
  await tx.run('update clock_state set seen_at = ?, confirmations = confirmations + 1', time)
}
