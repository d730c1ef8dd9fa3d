import type { Migration } from './types.ts'

export const fewerBlockIndexes: Migration = {
  version: 70,
  name: 'fewer indexes of uncommitted blocks',
  // Earlier programs find the same rows, some of them slower.
  kind: 'expand',
  async up(tx) {
    // Each block that a sync client sends was entered into both. Claims come with the commit, and time is asked for by maintenance alone, which reads the rows
    // of one library after another.
    await tx.run('drop index uncommitted_block_by_time')
    await tx.run('drop index uncommitted_block_by_claim')
    await tx.run(
      'create index uncommitted_block_by_claim on uncommitted_block (library_key, claim) where claim <> 0',
    )
  },
}
