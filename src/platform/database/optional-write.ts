import type { Database, Transaction } from './database.ts'
import { DatabaseError } from './errors.ts'

/**
 * Best-effort write of data such as last-used times. Resolves to false on a disk that is full or cannot be written, so that reads still
 * work then.
 */
export async function writeIfSpace(
  db: Database,
  work: (tx: Transaction) => Promise<unknown>,
  durable: false | 'replicated' = false,
): Promise<boolean> {
  try {
    await db.write(work, { durable })
    return true
  } catch (error) {
    if (!(error instanceof DatabaseError) || (error.reason !== 'full' && error.reason !== 'unwritable'))
      throw error
    return false
  }
}
