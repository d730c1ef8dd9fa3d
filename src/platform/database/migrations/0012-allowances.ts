import type { Migration } from './types.ts'

export const allowances: Migration = {
  version: 12,
  name: 'allowances',
  async up(tx, { int, bytes, text }) {
    const statements = [
      // Folders below a dir, as file_count is the files. Null in rows of older versions: counted when it is needed.
      `alter table fs_object add column dir_count ${int}`,
      // Whose upload it is: 0 the owner's, 1 of another account, 2 of a link's visitor.
      `alter table quota_reservation add column guest ${int} not null default 0`,
      // As before, with the link the chunks come through (0 for none) as part of the key: visitors of a link and the
      // account that made it cannot continue or replace each other's uploads.
      'alter table partial_upload rename to old_partial_upload',
      `create table partial_upload (
        library_key ${int} not null references library (key) on delete cascade,
        account_key ${int} not null references account (key) on delete cascade,
        link_key ${int} not null default 0,
        path_key ${bytes} not null,
        path ${text} not null,
        file ${text} not null,
        total ${int} not null,
        received ${int} not null,
        guest ${int} not null default 0,
        updated_at ${int} not null,
        primary key (library_key, account_key, link_key, path_key)
      )`,
      `insert into partial_upload (library_key, account_key, path_key, path, file, total, received, updated_at)
       select library_key, account_key, path_key, path, file, total, received, updated_at from old_partial_upload`,
      'drop table old_partial_upload',
      'create index partial_upload_by_time on partial_upload (updated_at)',
      'create unique index partial_upload_by_file on partial_upload (file)',
      // Blocks a library holds that no commit names yet. claim is made of the id of the received commit whose files
      // name the block; 0 until then. The row goes with the commit.
      `create table uncommitted_block (
        library_key ${int} not null references library (key) on delete cascade,
        block_id ${bytes} not null,
        size ${int} not null,
        guest ${int} not null,
        claim ${int} not null default 0,
        received_at ${int} not null,
        primary key (library_key, block_id)
      )`,
      // As in uncommitted_block: objects stay until the commit that names them is part of the history.
      `alter table received_object add column guest ${int} not null default 0`,
      `alter table received_object add column claim ${int} not null default 0`,
      'create index uncommitted_block_by_claim on uncommitted_block (library_key, claim)',
      'create index uncommitted_block_by_time on uncommitted_block (received_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
