import type { Migration } from './types.ts'

export const blockObjects: Migration = {
  version: 31,
  name: 'block objects',
  async up(tx, { int, bytes }) {
    const statements = [
      // `state`: 0 being uploaded, 1 stored, 2 retired, 3 to be deleted.
      `create table block_object (
        block_id ${bytes} not null,
        generation ${bytes} not null,
        size ${int} not null,
        state ${int} not null,
        changed_at ${int} not null,
        primary key (block_id, generation)
      )`,
      'create index block_object_by_state on block_object (state, block_id)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
