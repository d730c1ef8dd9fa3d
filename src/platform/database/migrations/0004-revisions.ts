import type { Migration } from './types.ts'

// All of it is derived (I3): what was there is dropped and made again from the commits.
export const revisions: Migration = {
  version: 4,
  name: 'revisions',
  async up(tx, { int, bytes, text }) {
    const statements = [
      // How a file or folder came to be at a path: added, or moved there from `old_path`. The object of a
      // folder is not kept, because a folder's history is that of the files in it.
      `create table path_origin (
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        seq ${int} not null,
        old_path ${text},
        object_id ${bytes},
        size ${int} not null,
        primary key (library_key, path_key, seq)
      )`,
      // Each time the content of a file became another one at the same path.
      `create table file_edit (
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        seq ${int} not null,
        object_id ${bytes} not null,
        size ${int} not null,
        primary key (library_key, path_key, seq)
      )`,
      'drop table trash_item',
      // `present` is 1 while something of the same kind is at the path again. `path_start` is as much of the
      // path as an index takes; `name_folded` is the name in lower case, to be searched.
      `create table trash_item (
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        path_start ${text} not null,
        name_folded ${text} not null,
        is_dir ${int} not null,
        present ${int} not null,
        object_id ${bytes} not null,
        size ${int} not null,
        deleted_at ${int} not null,
        deleted_by ${text} not null,
        seq ${int} not null,
        position ${int} not null,
        commit_before ${bytes} not null,
        primary key (library_key, path_key)
      )`,
      'create index trash_by_seq on trash_item (library_key, present, seq desc, position)',
      'create index trash_by_path on trash_item (library_key, path_start)',
      "delete from follower where name = 'paths'",
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
