import type { Migration } from './types.ts'

export const archives: Migration = {
  version: 42,
  name: 'archives',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // A requested zip archive, until its tickets expire. place says where the finished bytes are: in a file of its node, or in blocks.
      `create table archive (
        key ${key},
        id ${text} not null unique,
        library_key ${int} not null references library (key) on delete cascade,
        account_key ${int} not null,
        requester ${text} not null,
        identity ${bytes} not null,
        roots ${text} not null,
        name ${text} not null,
        state ${text} not null,
        total ${int},
        packed ${int} not null default 0,
        failure ${text},
        bytes ${int} not null,
        size ${int},
        place ${text},
        is_encrypted ${int} not null default 0,
        sealed_key ${bytes},
        is_fetched ${int} not null default 0,
        created_at ${int} not null,
        finished_at ${int},
        node_id ${text},
        claim ${text}
      )`,
      'create index archive_by_library on archive (library_key)',
      'create index archive_by_node on archive (node_id)',
      // Visitors of a link share equal archives, each with a ticket of their own.
      `create table archive_ticket (
        hash ${bytes} not null primary key,
        archive_key ${int} not null references archive (key) on delete cascade,
        expires_at ${int} not null,
        is_canceled ${int} not null default 0
      )`,
      'create index archive_ticket_by_archive on archive_ticket (archive_key)',
      'create index archive_ticket_by_time on archive_ticket (expires_at)',
      // The blocks of a finished archive by their place in the file.
      `create table archive_block (
        archive_key ${int} not null references archive (key) on delete cascade,
        position ${int} not null,
        block_id ${bytes} not null,
        size ${int} not null,
        primary key (archive_key, position)
      )`,
      'create index archive_block_by_block on archive_block (block_id)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
