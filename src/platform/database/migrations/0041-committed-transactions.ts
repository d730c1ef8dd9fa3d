import type { Migration } from './types.ts'

export const committedTransactions: Migration = {
  version: 41,
  name: 'committed transactions',
  async up(tx, { int, text }) {
    // PostgreSQL only. Each transaction adds a row, by which its node finds out whether a commit without a response was carried out, and by which other
    // nodes learn which tables it has changed. `tables` is empty if the transaction must not be committed any more.
    await tx.run(
      `create table committed_transaction (
        id ${int} primary key,
        number ${int} not null,
        tables ${text} not null,
        committed_at ${int} not null
      )`,
    )
    await tx.run('create index committed_transaction_number on committed_transaction (number)')
  },
}
