import type { Migration } from './types.ts'

export const sharing: Migration = {
  version: 5,
  name: 'sharing',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // `name_folded` is what makes a name taken.
      `create table user_group (
        key ${key},
        name ${text} not null,
        name_folded ${text} not null unique,
        owner_key ${int} not null references account (key),
        created_at ${int} not null
      )`,
      'create index user_group_by_owner on user_group (owner_key)',
      `create table group_member (
        group_key ${int} not null references user_group (key) on delete cascade,
        account_key ${int} not null references account (key) on delete cascade,
        is_admin ${int} not null,
        joined_at ${int} not null,
        primary key (group_key, account_key)
      )`,
      'create index group_member_by_account on group_member (account_key)',
      // A folder shown as a library. Its content is the folder's: there is no second tree. Commits before
      // since_seq are not part of what it shows.
      `create table sub_library (
        key ${key},
        id ${text} not null unique,
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        since_seq ${int} not null,
        unique (library_key, path_key)
      )`,
      // A grant: on a library, or on the folder a sub-library shows; to a user, a group, or everyone (key 0).
      `create table share (
        library_key ${int} not null references library (key) on delete cascade,
        sub_key ${int} references sub_library (key) on delete cascade,
        grantee ${text} not null,
        grantee_key ${int} not null,
        permission ${text} not null,
        is_admin ${int} not null,
        granted_by ${int} not null references account (key),
        created_at ${int} not null
      )`,
      'create unique index share_by_library on share (library_key, (coalesce(sub_key, 0)), grantee, grantee_key)',
      'create index share_by_grantee on share (grantee, grantee_key)',
      'create index share_by_sub on share (sub_key)',
      // What was opened through a sub-library stays within it, and goes with it.
      ...['ticket', 'sync_token', 'star'].flatMap((table) => [
        `alter table ${table} add column sub_key ${int} references sub_library (key) on delete cascade`,
        `create index ${table}_by_sub on ${table} (sub_key)`,
      ]),
      `alter table copy_move_task add column source_sub_key ${int} references sub_library (key) on delete cascade`,
      `alter table copy_move_task add column target_sub_key ${int} references sub_library (key) on delete cascade`,
      'create index copy_move_task_by_source_sub on copy_move_task (source_sub_key)',
      'create index copy_move_task_by_target_sub on copy_move_task (target_sub_key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
