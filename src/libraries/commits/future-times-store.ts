import type { Reader, Transaction } from '../../platform/database/index.ts'
import { libraryRows } from '../registry/index.ts'

// Times that a server with a wrong clock wrote. Retention compares them with the clock, so they would never expire.

/** Rows of commits and libraries with a time after `limit`, in Unix seconds. */
async function countFuture(reader: Reader, limit: number): Promise<{ commits: number; libraries: number }> {
  const commits = await reader.get<{ n: number }>(
    'select count(*) as n from commit_object where ctime > ?',
    limit,
  )
  return { commits: commits?.n ?? 0, libraries: await libraryRows.countFuture(reader, limit) }
}

/** Sets these times to `now`: what they date from is unknown, and a later time only keeps data for longer. */
async function repairFuture(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update commit_object set ctime = ? where ctime > ?', now, limit)
  await libraryRows.repairFuture(tx, limit, now)
}

/** Commits and libraries with times in the future. */
export const futureCommits = { count: countFuture, repair: repairFuture }
