import type { Migration } from '../../src/platform/database/migrations/types.ts'

/** A first schema for tests of migrations: an identity, bytes, null, and a reference to a table later in the alphabet. */
export const notes: Migration = {
  version: 1,
  name: 'notes',
  async up(tx, { key, int, bytes, text }) {
    await tx.run(`create table note (key ${key}, text ${text} not null, picture ${bytes})`)
    await tx.run(
      `create table remark (note_key ${int} not null references note (key), remark ${text} not null)`,
    )
    await tx.run(`create table annex (note_key ${int} not null references note (key))`)
  },
}
