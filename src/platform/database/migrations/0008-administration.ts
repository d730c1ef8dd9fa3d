import type { Migration } from './types.ts'

export const administration: Migration = {
  version: 8,
  name: 'administration',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // API tokens that open less than an account. kind: personal, or library (one library, for one app).
      // access: read, write, upload. A library token also rests encrypted, because its owner may see it again.
      `create table scoped_token (
        key ${key},
        hash ${bytes} not null unique,
        kind ${text} not null,
        account_key ${int} not null references account (key) on delete cascade,
        library_key ${int} references library (key) on delete cascade,
        sub_key ${int} references sub_library (key) on delete cascade,
        name ${text} not null,
        access ${text} not null,
        sealed ${bytes},
        created_at ${int} not null,
        last_used_at ${int},
        expires_at ${int}
      )`,
      'create index scoped_token_by_account on scoped_token (account_key, kind)',
      "create unique index library_token_by_app on scoped_token (library_key, name) where kind = 'library'",
      'create index scoped_token_by_library on scoped_token (library_key)',
      'create index scoped_token_by_sub on scoped_token (sub_key)',
      // A ticket asked for with such a token ends with it.
      `alter table ticket add column scoped_token_key ${int} references scoped_token (key) on delete cascade`,
      'create index ticket_by_scoped_token on ticket (scoped_token_key)',
      // When a device was told to wipe itself; it is, the next time it comes.
      `alter table api_token add column wiped_at ${int}`,
      `alter table account add column avatar ${text} not null default ''`,
      `alter table account add column avatar_at ${int} not null default 0`,
      // One row for each size an avatar is kept in. The name in its URL changes with the picture.
      `create table avatar (
        account_key ${int} not null references account (key) on delete cascade,
        size ${int} not null,
        name ${text} not null,
        data ${bytes} not null,
        updated_at ${int} not null,
        primary key (account_key, size)
      )`,
      'create index avatar_by_name on avatar (name)',
      `create table webdav_secret (
        account_key ${int} primary key references account (key) on delete cascade,
        hash ${text} not null
      )`,
      // Only ever added to; retention takes the oldest away. Names, not keys: a row outlives what it is about.
      `create table audit_entry (
        key ${key},
        at ${int} not null,
        actor ${text} not null,
        address ${text} not null,
        action ${text} not null,
        object_kind ${text} not null,
        object_id ${text} not null,
        path ${text} not null,
        detail ${text} not null
      )`,
      'create index audit_by_actor on audit_entry (actor, key)',
      'create index audit_by_action on audit_entry (action, key)',
      'create index audit_by_object on audit_entry (object_id, key)',
      'create index audit_by_time on audit_entry (at)',
      // Derived (I3): the stored bytes of a library, and the head they were counted for.
      `create table library_usage (
        library_key ${int} primary key references library (key) on delete cascade,
        head ${bytes} not null,
        oldest_seq ${int} not null,
        computed_at ${int} not null,
        current_bytes ${int} not null,
        trash_bytes ${int} not null,
        history_bytes ${int} not null,
        unreferenced_bytes ${int} not null,
        shared_bytes ${int} not null,
        blocks ${int} not null
      )`,
      // One row for each number of a day; the day is the Unix time it begins at, in UTC.
      `create table statistic (
        day ${int} not null,
        name ${text} not null,
        value ${int} not null,
        primary key (day, name)
      )`,
      'create index api_token_by_use on api_token (last_used_at)',
      'create index library_by_deletion on library (deleted_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
