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
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
