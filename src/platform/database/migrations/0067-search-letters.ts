import type { Migration } from './types.ts'

export const searchLetters: Migration = {
  version: 67,
  name: 'search letters',
  kind: 'contract',
  async up(tx) {
    // Earlier programs counted the names that contain a character in it. With SQLite the table is in the file of the index, where the search drops it.
    await tx.run('drop table if exists search_letter')
  },
}
