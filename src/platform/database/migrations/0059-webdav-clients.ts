import type { Migration } from './types.ts'

export const webdavClients: Migration = {
  version: 59,
  name: 'WebDAV clients',
  kind: 'expand',
  async up(tx, { key, int, text }) {
    const statements = [
      // Programs that signed in over WebDAV, which has no sessions: one row for each credential, network and program.
      `create table webdav_client (
        key ${key},
        account_key ${int} not null references account (key) on delete cascade,
        credential ${text} not null,
        scoped_token_key ${int} references scoped_token (key) on delete cascade,
        network ${text} not null,
        program ${text} not null,
        address ${text} not null,
        user_agent ${text} not null,
        created_at ${int} not null,
        last_used_at ${int} not null
      )`,
      `create unique index webdav_client_by_program
        on webdav_client (account_key, credential, coalesce(scoped_token_key, 0), network, program)`,
      'create index webdav_client_by_token on webdav_client (scoped_token_key)',
      'create index webdav_client_by_time on webdav_client (last_used_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
