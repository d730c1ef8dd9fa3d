import type { Reader, Transaction } from '../../platform/database/index.ts'

// Times that a server with a wrong clock wrote. Retention compares them with the clock, so they would never expire.

/** Rows of commits and libraries with a time after `limit`, in Unix seconds. */
export async function countFutureCommits(
  reader: Reader,
  limit: number,
): Promise<{ commits: number; libraries: number }> {
  const commits = await reader.get<{ n: number }>(
    'select count(*) as n from commit_object where ctime > ?',
    limit,
  )
  const libraries = await reader.get<{ n: number }>(
    'select count(*) as n from library where updated_at > ? or created_at > ? or deleted_at > ?',
    limit,
    limit,
    limit,
  )
  return { commits: commits?.n ?? 0, libraries: libraries?.n ?? 0 }
}

/** Sets these times to `now`: what they date from is unknown, and a later time only keeps data for longer. */
export async function repairFutureCommits(tx: Transaction, limit: number, now: number): Promise<void> {
  await tx.run('update commit_object set ctime = ? where ctime > ?', now, limit)
  await tx.run('update library set updated_at = ? where updated_at > ?', now, limit)
  await tx.run('update library set created_at = ? where created_at > ?', now, limit)
  await tx.run('update library set deleted_at = ? where deleted_at > ?', now, limit)
  // Backups read their rows again, those of other modules with such times included.
  await tx.run('update library set objects_epoch = objects_epoch + 1')
}
