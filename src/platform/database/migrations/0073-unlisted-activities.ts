import type { Migration } from './types.ts'

export const unlistedActivities: Migration = {
  version: 73,
  name: 'numbers of changes that the feed does not list',
  // Earlier programs write no number, and list 100 changes of a large commit as before.
  kind: 'expand',
  async up(tx, { int }) {
    // The number of further changes of the same kind in the commit. Null: none.
    await tx.run(`alter table activity add column unlisted ${int}`)
  },
}
