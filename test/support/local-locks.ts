import type { ProcessLocks } from '../../src/platform/database/index.ts'
import { LockClient, onLockCall } from '../../src/platform/processes/lock-client.ts'
import { LockTable } from '../../src/platform/processes/lock-table.ts'

/** The locks of several servers that run in one process. Each call returns those of one more server. */
export function createLocalLocks(): () => ProcessLocks {
  const table = new LockTable()
  return () => {
    const owner = {}
    const client: LockClient = new LockClient((call) =>
      onLockCall(table, owner, call, (grant) => client.onGrant(grant)),
    )
    return client
  }
}
