import type { LibraryDependent } from '../../libraries/registry/index.ts'

/** The progress of checks in a library that is purged. Their findings stay until the next pass replaces them. */
export const checkRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from checked_library where library_key = ?', libraryKey)
    await tx.run('delete from check_progress where library_key = ?', libraryKey)
  },
}
