import type { Migration } from './types.ts'

export const transfers: Migration = {
  version: 2,
  name: 'transfers',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Blocks too small to be worth a file of their own; which blocks a library holds is in library_block.
      `create table small_block (
        id ${bytes} primary key,
        data ${bytes} not null
      )`,
      // Bytes promised to uploads under way; one that is not renewed counts no more.
      `create table quota_reservation (
        key ${key},
        owner_key ${int} not null references account (key) on delete cascade,
        bytes ${int} not null,
        expires_at ${int} not null
      )`,
      'create index quota_reservation_by_owner on quota_reservation (owner_key)',
      // A file that arrives in chunks; its bytes so far are in a temporary file named by `file`.
      `create table partial_upload (
        library_key ${int} not null references library (key) on delete cascade,
        account_key ${int} not null references account (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        file ${text} not null unique,
        total ${int} not null,
        received ${int} not null,
        updated_at ${int} not null,
        primary key (library_key, account_key, path_key)
      )`,
      'create index partial_upload_by_time on partial_upload (updated_at)',
      // When the version a ticket delivers was made, in Unix seconds.
      `alter table ticket add column modified_at ${int}`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
