import type { Database } from '../database/index.ts'
import { OperationLeases } from '../gc/index.ts'
import { RunningOperations } from '../scheduling/index.ts'

/**
 * Keeps garbage collection, in whichever process it runs, from deleting what is condemned from now on. For a backup, which reads blocks after it
 * has read the rows, and needs only the bytes to be kept, for a restore or an import, which stores blocks before rows refer to them, and for an export.
 * A restore or an import that loses the lease can commit nothing any more. A backup has to ask with `OperationLeases.isHeld` before it relies on what it has read.
 */
export async function holdLease(
  db: Database,
  purpose: 'backup' | 'restore' | 'import' | 'export',
): Promise<Pick<OperationLeases, 'name'> & AsyncDisposable> {
  const now = () => Math.floor(Date.now() / 1000)
  const operations = new RunningOperations(now)
  operations.begin()
  const leases = new OperationLeases({ db, operations, now, onError: () => {}, purpose })
  await leases.start()
  return leases
}
