import type { Migration } from './types.ts'

export const secondFactors: Migration = {
  version: 75,
  name: 'second factors',
  kind: 'expand',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // 1 for an account that signs in with a second factor. In the row of the account, so that no request reads another table.
      // Nodes of older versions do not ask for it: it protects once all nodes run this version.
      `alter table account add column second_factor ${int} not null default 0`,
      // When an account that needs a second factor can no longer sign in without one. Null until it first signs in under that rule.
      `alter table account add column second_factor_due_at ${int}`,
      // Secrets of authenticator apps, encrypted under the secret of the server. last_step is the last time step with a used code.
      `create table totp_secret (
        account_key ${int} not null primary key references account (key) on delete cascade,
        sealed ${bytes} not null,
        last_step ${int} not null,
        created_at ${int} not null,
        last_used_at ${int}
      )`,
      // Hashes of recovery codes. A code that was used has no row.
      `create table recovery_code (
        account_key ${int} not null references account (key) on delete cascade,
        hash ${bytes} not null,
        primary key (account_key, hash)
      )`,
      // Hashes of tokens that stand for a code at later sign-ins, valid for one epoch of the account.
      `create table trusted_device (
        key ${key},
        account_key ${int} not null references account (key) on delete cascade,
        hash ${bytes} not null,
        epoch ${int} not null,
        address ${text} not null,
        user_agent ${text} not null,
        created_at ${int} not null,
        last_used_at ${int} not null,
        expires_at ${int} not null
      )`,
      'create unique index trusted_device_by_hash on trusted_device (hash)',
      'create index trusted_device_by_account on trusted_device (account_key)',
      'create index trusted_device_by_time on trusted_device (expires_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
