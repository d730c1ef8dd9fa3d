import type { LibraryDependent } from '../registry/index.ts'
import { deleteArchivesOf } from './archive-store.ts'

/** Archives of libraries that are removed. Their files are found by their names, which no row has any more. */
export const archiveRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await deleteArchivesOf(tx, libraryKey)
  },
}
