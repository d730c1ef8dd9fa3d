import type { Migration } from './types.ts'

// Times are Unix seconds.
export const garbageCollection: Migration = {
  version: 14,
  name: 'garbage collection',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Objects that nothing reached when a collection looked. depth is that of the object: a delta is deeper than its base and is
      // deleted first.
      `create table condemned_object (
        library_key ${int} not null references library (key) on delete cascade,
        id ${bytes} not null,
        depth ${int} not null,
        condemned_at ${int} not null,
        primary key (library_key, id)
      )`,
      'create index condemned_object_by_depth on condemned_object (library_key, depth)',
      // The same for the blocks a library holds.
      `create table condemned_reference (
        library_key ${int} not null references library (key) on delete cascade,
        block_id ${bytes} not null,
        condemned_at ${int} not null,
        primary key (library_key, block_id)
      )`,
      // Bytes that no library holds. removed_at: since when the file of the block is in the removal folder.
      `create table condemned_block (
        id ${bytes} primary key,
        condemned_at ${int} not null,
        removed_at ${int}
      )`,
      // What each process still works on: nothing condemned since oldest_at may be deleted.
      `create table operation_lease (
        node ${text} primary key,
        oldest_at ${int} not null,
        renewed_at ${int} not null
      )`,
      // kept_seq: the history below it is given up. is_cut: the commits below it are deleted.
      `create table collected_library (
        library_key ${int} primary key references library (key) on delete cascade,
        kept_seq ${int} not null,
        cut_at ${int} not null,
        is_cut ${int} not null,
        head ${bytes},
        collected_at ${int}
      )`,
      `create table collection (
        key ${key},
        began_at ${int} not null,
        ended_at ${int},
        libraries ${int} not null default 0,
        condemned ${int} not null default 0,
        released ${int} not null default 0,
        objects ${int} not null default 0,
        commits ${int} not null default 0,
        block_references ${int} not null default 0,
        blocks ${int} not null default 0,
        freed_bytes ${int} not null default 0,
        waiting_bytes ${int} not null default 0,
        failure ${text}
      )`,
      // Who is stored as a difference to a dir that is to be deleted.
      'create index fs_object_by_base on fs_object (library_key, base) where base is not null',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
