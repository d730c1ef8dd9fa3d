import type { Migration } from './types.ts'

export const stagedBlocks: Migration = {
  version: 39,
  name: 'staged blocks',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Unfinished uploads of earlier versions are dropped: their bytes are in files of one node. Clients restart them.
      'drop table partial_upload',
      // A chunked upload. version is an optimistic lock: adding a chunk names the version it read, and increments it.
      `create table partial_upload (
        key ${key},
        library_key ${int} not null references library (key) on delete cascade,
        account_key ${int} not null references account (key) on delete cascade,
        link_key ${int} not null default 0,
        path_key ${bytes} not null,
        path ${text} not null,
        total ${int} not null,
        received ${int} not null,
        version ${int} not null default 0,
        guest ${int} not null default 0,
        updated_at ${int} not null,
        unique (library_key, account_key, link_key, path_key)
      )`,
      'create index partial_upload_by_time on partial_upload (updated_at)',
      // The blocks of an upload, by their offset in the file. Blocks that are not final are staged pieces of the next block.
      `create table staged_block (
        upload_key ${int} not null references partial_upload (key) on delete cascade,
        position ${int} not null,
        block_id ${bytes} not null,
        size ${int} not null,
        length ${int} not null,
        is_final ${int} not null,
        primary key (upload_key, position)
      )`,
      'create index staged_block_by_block on staged_block (block_id)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
