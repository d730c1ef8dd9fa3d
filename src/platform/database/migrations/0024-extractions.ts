import type { Migration } from './types.ts'

export const extractions: Migration = {
  version: 24,
  name: 'extractions',
  async up(tx, { text }) {
    // What a task extracts of an archive, as JSON. Null for copies and moves.
    await tx.run(`alter table copy_move_task add column extraction ${text}`)
  },
}
