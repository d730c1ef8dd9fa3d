import { deleteBatch } from '../../platform/database/index.ts'
import type { LibraryDependent } from './dependents.ts'

/** Consumer positions of a library that is purged. Before all derived rows: without its position, a consumer adds none. */
export const positionRows: LibraryDependent = {
  async onPurged(tx, libraryKey) {
    await tx.run('delete from follower where library_key = ?', libraryKey)
  },
}

/** Commits and former names of a library that is purged. */
export const commitRows: LibraryDependent = {
  purgeBatch: (tx, libraryKey, limit) => deleteBatch(tx, 'commit_object', 'id', libraryKey, limit),
  async onPurged(tx, libraryKey) {
    await tx.run('delete from library_rename where library_key = ?', libraryKey)
  },
}
