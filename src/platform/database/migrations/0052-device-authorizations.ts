import type { Migration } from './types.ts'

export const deviceAuthorizations: Migration = {
  version: 52,
  name: 'device authorizations',
  kind: 'expand',
  async up(tx, { int, bytes, text }) {
    const statements = [
      // Requests of the device authorization grant (RFC 8628). Both codes are stored as hashes. The account and the granted token are null until approval.
      `create table device_authorization (
        device_hash ${bytes} not null primary key,
        user_hash ${bytes} not null unique,
        client_id ${text} not null,
        device_name ${text} not null,
        access ${text} not null,
        address ${text} not null,
        network ${text} not null,
        created_at ${int} not null,
        expires_at ${int} not null,
        poll_interval ${int} not null,
        polled_at ${int},
        state ${text} not null,
        account_key ${int} references account (key) on delete cascade,
        epoch ${int},
        token_name ${text},
        token_expires_at ${int}
      )`,
      'create index device_authorization_by_account on device_authorization (account_key)',
      'create index device_authorization_by_network on device_authorization (network, expires_at)',
      'create index device_authorization_by_time on device_authorization (expires_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
