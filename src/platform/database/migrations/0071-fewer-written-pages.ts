import type { Migration } from './types.ts'

export const fewerWrittenPages: Migration = {
  version: 71,
  name: 'fewer pages for a write',
  // Earlier programs find the same rows, and sort the libraries of an owner when they are listed.
  kind: 'expand',
  async up(tx, { key }) {
    // Each commit changes the time of its library, so an index of times was written with it. An owner has few libraries.
    await tx.run('create index library_of_owner on library (owner_key)')
    await tx.run('drop index library_by_owner')
    // PostgreSQL has no such tables.
    if (key.startsWith('bigint')) return
    // A row in the index of its key is one page of the log, a row beside an index is two.
    await tx.run(`create table uncommitted_block_by_key (
        library_key integer not null references library (key) on delete cascade,
        block_id blob not null,
        size integer not null,
        guest integer not null,
        claim integer not null default 0,
        received_at integer not null,
        primary key (library_key, block_id)
      ) without rowid`)
    await tx.run(`insert into uncommitted_block_by_key (library_key, block_id, size, guest, claim, received_at)
      select library_key, block_id, size, guest, claim, received_at from uncommitted_block order by library_key, block_id`)
    await tx.run('drop table uncommitted_block')
    await tx.run('alter table uncommitted_block_by_key rename to uncommitted_block')
    await tx.run(
      'create index uncommitted_block_by_claim on uncommitted_block (library_key, claim) where claim <> 0',
    )
  },
}
