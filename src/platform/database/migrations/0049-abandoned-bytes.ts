import type { Migration } from './types.ts'

export const abandonedBytes: Migration = {
  version: 49,
  name: 'abandoned bytes',
  kind: 'expand',
  async up(tx, { int }) {
    const statements = [
      // What failed and canceled tasks of an account have stored, until garbage collection has freed it.
      `create table abandoned_bytes (
        account_key ${int} not null references account (key) on delete cascade,
        at ${int} not null,
        bytes ${int} not null
      )`,
      'create index abandoned_bytes_by_account on abandoned_bytes (account_key, at)',
      'create index abandoned_bytes_by_time on abandoned_bytes (at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
