import type { LibraryDependent } from '../../libraries/registry/index.ts'
import type { AccountDependent } from '../../people/accounts/index.ts'

/** Copy and move tasks of libraries that are purged and of removed accounts. A task without a row stops. */
export const jobRows: LibraryDependent & AccountDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from copy_move_task where source_key = ? or target_key = ?', libraryKey, libraryKey)
  },
  async onAccountRemoved(tx, { key }) {
    await tx.run('delete from copy_move_task where account_key = ?', key)
    await tx.run('delete from abandoned_bytes where account_key = ?', key)
  },
}
