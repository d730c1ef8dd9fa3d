import type { Migration } from './types.ts'

export const openedLibraries: Migration = {
  version: 44,
  name: 'opened libraries',
  async up(tx, { int, bytes, text }) {
    const statements = [
      // Data keys of encrypted libraries whose password was given, sealed with the credential of the client. name is that of a credential or a ticket, opened that of
      // the credential in both cases.
      `create table opened_library (
        name ${text} not null primary key,
        opened ${text} not null,
        library_id ${text} not null,
        account_key ${int} not null references account (key) on delete cascade,
        api_token_key ${int} references api_token (key) on delete cascade,
        scoped_token_key ${int} references scoped_token (key) on delete cascade,
        sealed_key ${bytes} not null,
        expires_at ${int} not null
      )`,
      'create index opened_library_by_opened on opened_library (opened)',
      'create index opened_library_by_library on opened_library (library_id)',
      'create index opened_library_by_account on opened_library (account_key)',
      'create index opened_library_by_api_token on opened_library (api_token_key)',
      'create index opened_library_by_scoped_token on opened_library (scoped_token_key)',
      'create index opened_library_by_time on opened_library (expires_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
