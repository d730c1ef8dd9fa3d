import type { LibraryDependent } from '../../libraries/registry/index.ts'
import type { AccountDependent } from '../../people/accounts/index.ts'
import { deleteBatch } from '../../platform/database/index.ts'

/** Feed, notifications, monitored libraries and webhooks of libraries and accounts that are removed. */
export const activityRows: LibraryDependent & AccountDependent = {
  purgeBatch: (tx, libraryKey, limit) => deleteBatch(tx, 'activity', 'key', libraryKey, limit),

  async onPurged(tx, libraryKey) {
    await tx.run('delete from activity where library_key = ?', libraryKey)
    await tx.run('delete from monitored_library where library_key = ?', libraryKey)
    const webhooks = 'select key from webhook where library_key = ?'
    await tx.run(`delete from webhook_delivery where webhook_key in (${webhooks})`, libraryKey)
    await tx.run('delete from webhook where library_key = ?', libraryKey)
  },

  async onAccountRemoved(tx, { key }) {
    await tx.run('delete from notification where account_key = ?', key)
    await tx.run('delete from monitored_library where account_key = ?', key)
  },
}
