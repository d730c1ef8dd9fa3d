import type { LibraryDependent } from '../registry/index.ts'

/** The counted sizes of a library that is purged. */
export const usageRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from library_usage where library_key = ?', libraryKey)
  },
}
