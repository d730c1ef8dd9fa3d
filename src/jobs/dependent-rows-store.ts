import type { LibraryDependent } from '../commits/index.ts'

/** Copy and move tasks from or to a library that is purged. */
export const jobRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from copy_move_task where source_key = ? or target_key = ?', libraryKey, libraryKey)
  },
}
