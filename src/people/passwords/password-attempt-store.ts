import type { Transaction } from '../../platform/database/index.ts'
import { isEmpty, type NameAttempts } from './login-throttle.ts'

/** The attempts for a subject. Its row stays locked until the transaction ends, so that nodes count one after another. */
export async function lockAttempts(tx: Transaction, subject: string, now: number): Promise<NameAttempts> {
  const row = await tx.get<{ attempts: string; known: string | null }>(
    `insert into password_attempt (subject, attempts, updated_at) values (?, '{}', ?)
     on conflict (subject) do update set updated_at = excluded.updated_at returning attempts, known`,
    subject,
    now,
  )
  const failed = JSON.parse(row?.attempts ?? '{}') as Record<string, number[]>
  const known = JSON.parse(row?.known ?? '{}') as Record<string, number>
  return { failed: new Map(Object.entries(failed)), known: new Map(Object.entries(known)) }
}

/** Replaces the attempts for a subject; without any its row is deleted. */
export async function putAttempts(tx: Transaction, subject: string, attempts: NameAttempts): Promise<void> {
  if (isEmpty(attempts)) await tx.run('delete from password_attempt where subject = ?', subject)
  else {
    await tx.run(
      'update password_attempt set attempts = ?, known = ? where subject = ?',
      JSON.stringify(Object.fromEntries(attempts.failed)),
      attempts.known.size === 0 ? null : JSON.stringify(Object.fromEntries(attempts.known)),
      subject,
    )
  }
}

/** Deletes rows whose last attempt is older than `failedBefore`, or than `knownBefore` if they have known sources. */
export function deleteAttemptsBefore(
  tx: Transaction,
  failedBefore: number,
  knownBefore: number,
): Promise<number> {
  return tx.run(
    'delete from password_attempt where updated_at < ? and (known is null or updated_at < ?)',
    failedBefore,
    knownBefore,
  )
}
