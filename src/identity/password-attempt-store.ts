import type { Transaction } from '../database/index.ts'

/** Times of recent attempts in Unix seconds, by source. */
export type StoredAttempts = Map<string, number[]>

/** The recent attempts for a subject. Its row stays locked until the transaction ends, so that nodes count one after another. */
export async function lockAttempts(tx: Transaction, subject: string, now: number): Promise<StoredAttempts> {
  const row = await tx.get<{ attempts: string }>(
    `insert into password_attempt (subject, attempts, updated_at) values (?, '{}', ?)
     on conflict (subject) do update set updated_at = excluded.updated_at returning attempts`,
    subject,
    now,
  )
  return new Map(Object.entries(JSON.parse(row?.attempts ?? '{}') as Record<string, number[]>))
}

/** Replaces the attempts for a subject; without any its row is deleted. */
export async function putAttempts(tx: Transaction, subject: string, attempts: StoredAttempts): Promise<void> {
  if (attempts.size === 0) await tx.run('delete from password_attempt where subject = ?', subject)
  else {
    const text = JSON.stringify(Object.fromEntries(attempts))
    await tx.run('update password_attempt set attempts = ? where subject = ?', text, subject)
  }
}

export function deleteAttemptsBefore(tx: Transaction, time: number): Promise<number> {
  return tx.run('delete from password_attempt where updated_at < ?', time)
}
