import type { Migration } from './types.ts'

export const timesOfChecks: Migration = {
  version: 54,
  name: 'times of checks',
  kind: 'expand',
  async up(tx, { int }) {
    // When the check of a library began, in Unix seconds. Null in passes of older versions.
    await tx.run(`alter table checked_library add column since ${int}`)
  },
}
