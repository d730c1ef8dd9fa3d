import type { Migration } from './types.ts'

export const condemnedBytes: Migration = {
  version: 20,
  name: 'condemned bytes',
  async up(tx, { int }) {
    // The size of a condemned block, so that waiting bytes can be summed up without looking at files. Null in rows of earlier versions.
    await tx.run(`alter table condemned_block add column size ${int}`)
  },
}
