import type { Migration } from './types.ts'

export const sync: Migration = {
  version: 10,
  name: 'sync',
  async up(tx, { int, bytes, text }) {
    const statements = [
      // The device a sync token was last shown by; '' until it says who it is.
      `alter table sync_token add column device_id ${text} not null default ''`,
      `alter table sync_token add column device_name ${text} not null default ''`,
      `alter table sync_token add column address ${text} not null default ''`,
      `alter table sync_token add column client_version ${text} not null default ''`,
      `alter table sync_token add column last_used_at ${int}`,
      // A commit of a client that a merge brought in has no number of its own: this is the number of the merge.
      `alter table commit_object add column merged_seq ${int}`,
      'create index commit_by_merge on commit_object (library_key, merged_seq) where merged_seq is not null',
      // When a commit came in that no head has reached yet.
      `alter table commit_object add column received_at ${int}`,
      'create index commit_by_receipt on commit_object (received_at) where received_at is not null',
      // Dirs and files sent ahead of the commit that names them. Each is sound in itself; what it names may be
      // missing. They become fs objects once everything below them is there. kind as in fs_object.
      `create table received_object (
        library_key ${int} not null references library (key) on delete cascade,
        id ${bytes} not null,
        kind ${int} not null,
        encoding ${int} not null,
        size ${int} not null,
        data ${bytes} not null,
        received_at ${int} not null,
        primary key (library_key, id)
      )`,
      'create index received_object_by_time on received_object (received_at)',
      // The commits a sub-library has for those who sync it: heads as they were shown, and what clients sent. seq is
      // that of the origin's head then; null, with the time of receipt, for one that was not pushed yet.
      `create table sub_commit (
        sub_key ${int} not null references sub_library (key) on delete cascade,
        id ${bytes} not null,
        root ${bytes} not null,
        parent ${bytes},
        creator ${bytes} not null,
        creator_name ${text} not null,
        description ${text} not null,
        ctime ${int} not null,
        device_name ${text},
        client_version ${text},
        seq ${int},
        received_at ${int},
        primary key (sub_key, id)
      )`,
      'create index sub_commit_by_receipt on sub_commit (received_at) where received_at is not null',
      // Objects and blocks of the origin that those who sync a sub-library may have: what they were shown, and what they
      // sent; is_sent until it was looked whether they may have all that a sent object names.
      `create table sub_object (
        sub_key ${int} not null references sub_library (key) on delete cascade,
        id ${bytes} not null,
        is_sent ${int} not null,
        primary key (sub_key, id)
      )`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
