import type { Database, Transaction } from './database.ts'
import { DatabaseError } from './errors.ts'

/**
 * Writes what can be done without, such as when something was last used. On a full disk it is left out and the
 * answer is false, so that nobody is kept from reading by it.
 */
export async function writeIfSpace(
  db: Database,
  work: (tx: Transaction) => Promise<unknown>,
): Promise<boolean> {
  try {
    await db.write(work, { durable: false })
    return true
  } catch (error) {
    if (!(error instanceof DatabaseError && error.reason === 'full')) throw error
    return false
  }
}
