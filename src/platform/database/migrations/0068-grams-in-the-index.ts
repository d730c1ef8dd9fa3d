import type { Migration } from './types.ts'

export const gramsInTheIndex: Migration = {
  version: 68,
  name: 'grams in the index',
  kind: 'contract',
  async up(tx, { key }) {
    // Earlier programs stored the grams of names in the rows. The search made an index without them before, and a trigger that filled the column.
    if (!key.startsWith('bigint')) return
    const table = await tx.get("select 1 as found where to_regclass('search_entry') is not null")
    if (table === undefined) return
    await tx.run('drop trigger if exists search_entry_grams on search_entry')
    await tx.run('drop function if exists search_entry_grams()')
    await tx.run('alter table search_entry drop column if exists grams')
  },
}
