import type { LibraryDependent } from '../../libraries/registry/index.ts'

/** How far garbage collection got in a library that is purged. */
export const collectionRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from collected_library where library_key = ?', libraryKey)
  },
}
