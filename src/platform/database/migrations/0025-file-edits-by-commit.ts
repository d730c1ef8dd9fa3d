import type { Migration } from './types.ts'

export const fileEditsByCommit: Migration = {
  version: 25,
  name: 'file edits by commit',
  async up(tx) {
    // Garbage collection deletes the edits of the commits that a library gave up. It contains the path key, so that the table is not read.
    await tx.run('create index file_edit_by_seq on file_edit (library_key, seq, path_key)')
  },
}
