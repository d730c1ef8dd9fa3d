import type { Migration } from './types.ts'

export const events: Migration = {
  version: 7,
  name: 'events',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Commits do not say what a library was called; this does, by the number of the commit.
      `create table library_rename (
        library_key ${int} not null references library (key) on delete cascade,
        seq ${int} not null,
        old_name ${text} not null,
        new_name ${text} not null,
        primary key (library_key, seq)
      )`,
      // Rows with a seq are derived from commits (I3), and have twice that number as rank, which orders what a library
      // saw in one second. The others record what no commit tells of; one with an
      // account_key is shown to that account even when it cannot open the library any more.
      `create table activity (
        key ${key},
        library_key ${int} not null references library (key) on delete cascade,
        account_key ${int},
        seq ${int},
        at ${int} not null,
        rank ${int} not null,
        op ${text} not null,
        object ${text} not null,
        path ${text} not null,
        old_path ${text},
        old_name ${text},
        author ${text} not null,
        commit_id ${bytes},
        days ${int}
      )`,
      'create index activity_by_time on activity (library_key, at, rank, key)',
      'create index activity_by_author on activity (library_key, author, at, rank, key)',
      'create index activity_by_account on activity (account_key, at, rank, key) where account_key is not null',
      `create table notification (
        key ${key},
        account_key ${int} not null references account (key) on delete cascade,
        type ${text} not null,
        detail ${text} not null,
        created_at ${int} not null,
        seen ${int} not null default 0
      )`,
      'create index notification_by_account on notification (account_key, key)',
      'create index notification_by_seen on notification (account_key, seen)',
      'create index notification_by_time on notification (created_at)',
      // Only commits after since_seq are told of.
      `create table monitored_library (
        account_key ${int} not null references account (key) on delete cascade,
        library_key ${int} not null references library (key) on delete cascade,
        since_seq ${int} not null,
        primary key (account_key, library_key)
      )`,
      'create index monitored_by_library on monitored_library (library_key)',
      // Numbers of live events are handed out by live_event_number, so that they become visible in order.
      `create table live_event (
        id ${int} primary key,
        at ${int} not null,
        event ${text} not null
      )`,
      'create table live_event_number (key integer primary key, last bigint not null)',
      'insert into live_event_number (key, last) values (1, 0)',
      `create table webhook (
        key ${key},
        library_key ${int} not null references library (key) on delete cascade,
        url ${text} not null,
        secret ${bytes} not null,
        creator ${text} not null,
        created_at ${int} not null,
        since_seq ${int} not null,
        is_valid ${int} not null default 1,
        failures ${int} not null default 0,
        unique (library_key, url)
      )`,
      // state: 0 waits to be sent, 1 was taken by the receiver, 2 was given up.
      `create table webhook_delivery (
        key ${key},
        webhook_key ${int} not null references webhook (key) on delete cascade,
        id ${text} not null unique,
        event ${text} not null,
        body ${text} not null,
        created_at ${int} not null,
        state ${int} not null default 0,
        attempts ${int} not null default 0,
        next_at ${int} not null,
        claimed_until ${int} not null default 0,
        finished_at ${int},
        status ${int},
        answer ${text} not null default '',
        error ${text} not null default ''
      )`,
      'create index webhook_delivery_due on webhook_delivery (state, next_at)',
      'create index webhook_delivery_by_webhook on webhook_delivery (webhook_key, key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
