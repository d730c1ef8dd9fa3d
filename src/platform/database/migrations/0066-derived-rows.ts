import type { Migration } from './types.ts'

const TABLES = ['activity', 'file_edit', 'first_seen', 'path_origin', 'photo', 'trash_item']

export const derivedRows: Migration = {
  version: 66,
  name: 'derived rows without foreign keys',
  // Programs before it delete these rows with their library by the foreign keys alone.
  kind: 'contract',
  async up(tx, { key }) {
    // PostgreSQL locks the row of the library for each derived row that is inserted. While a commit changes that row, this is a multixact. SQLite has no such
    // locks, and cannot drop a foreign key without copying the table.
    if (!key.startsWith('bigint')) return
    for (const table of TABLES)
      await tx.run(`alter table ${table} drop constraint if exists ${table}_library_key_fkey`)
  },
}
