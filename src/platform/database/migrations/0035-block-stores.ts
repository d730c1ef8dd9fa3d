import type { Migration } from './types.ts'

export const blockStores: Migration = {
  version: 35,
  name: 'block stores',
  async up(tx, { int, text }) {
    // One row, and a second one while blocks are moved. `slot` is 1 or 2, so that two processes cannot register different stores at once.
    await tx.run(`create table block_store (
      slot ${int} primary key,
      id ${text} not null,
      address ${text} not null,
      is_confirmed ${int} not null,
      is_current ${int} not null,
      changed_at ${int} not null
    )`)
  },
}
