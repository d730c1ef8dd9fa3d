import { deleteBatch } from '../database/index.ts'
import type { LibraryDependent } from './dependents.ts'

/** Commits, former names and consumer positions of a library that is purged. */
export const commitRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) => deleteBatch(tx, 'commit_object', 'id', libraryKey, limit),
  async onPurged(tx, libraryKey) {
    await tx.run('delete from follower where library_key = ?', libraryKey)
    await tx.run('delete from library_rename where library_key = ?', libraryKey)
  },
}
