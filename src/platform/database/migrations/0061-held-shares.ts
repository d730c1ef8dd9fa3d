import type { Migration } from './types.ts'

export const heldShares: Migration = {
  version: 61,
  name: 'shares that wait for acceptance',
  kind: 'expand',
  async up(tx, { int }) {
    // A held share or membership grants nothing until its recipient accepts it. `held_by` is the account that added the member.
    await tx.run(`alter table share add column is_held ${int} not null default 0`)
    await tx.run(`alter table group_member add column held_by ${int}`)
  },
}
