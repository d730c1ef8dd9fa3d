import type { Migration } from './types.ts'

export const mail: Migration = {
  version: 37,
  name: 'mail',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // state: 0 waits to be sent, 1 was accepted by the mail server, 2 was given up, 3 had nothing to say any more.
      // first_item and last_item are the notifications that a mail of kind 'notices' reports. The last one is set when the
      // mail is sent for the first time, so that every attempt reports the same.
      `create table mail (
        key ${key},
        id ${text} not null unique,
        kind ${text} not null,
        account_key ${int} references account (key) on delete cascade,
        sender_key ${int},
        address ${text} not null default '',
        detail ${text} not null default '{}',
        first_item ${int},
        last_item ${int},
        created_at ${int} not null,
        state ${int} not null default 0,
        attempts ${int} not null default 0,
        next_at ${int} not null,
        claimed_until ${int} not null default 0,
        finished_at ${int},
        error ${text} not null default ''
      )`,
      'create index mail_due on mail (next_at) where state = 0',
      'create index mail_by_account on mail (account_key, created_at)',
      'create index mail_by_sender on mail (sender_key, created_at) where sender_key is not null',
      'create index mail_by_end on mail (finished_at) where state <> 0',
      `create unique index mail_collecting on mail (account_key, kind)
        where state = 0 and first_item is not null and last_item is null`,
      // Tokens in mails: to choose a password, or to verify an address.
      `create table account_token (
        hash ${bytes} primary key,
        account_key ${int} not null references account (key) on delete cascade,
        purpose ${text} not null,
        address ${text} not null default '',
        created_at ${int} not null,
        expires_at ${int} not null
      )`,
      'create index account_token_by_account on account_token (account_key)',
      'create index account_token_by_expiry on account_token (expires_at)',
      // '' until it is known.
      `alter table account add column language ${text} not null default ''`,
      // When notifications are mailed: 'at-once', 'daily' or 'off'.
      `alter table account add column mail_notices ${text} not null default 'at-once'`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
