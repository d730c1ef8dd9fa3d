import type { Migration } from './types.ts'

export const lockOrigins: Migration = {
  version: 58,
  name: 'lock origins',
  kind: 'expand',
  async up(tx, { int }) {
    // The personal or library token that a lock was taken with, and with which it ends. Null for none, and for older locks.
    await tx.run(`alter table file_lock add column scoped_token_key ${int}`)
  },
}
