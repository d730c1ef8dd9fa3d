import type { Migration } from './types.ts'

export const signInLinks: Migration = {
  version: 48,
  name: 'sign-in links',
  kind: 'expand',
  async up(tx, { int, bytes }) {
    const statements = [
      // The API token that this one was derived from, through a link of a client into the web app. It is deleted with it by the program: a
      // foreign key within the table would prescribe the order in which a backup restores its rows.
      `alter table api_token add column parent_key ${int}`,
      'create index api_token_by_parent on api_token (parent_key)',
      // Hashes of one-time tokens with which a client opens the web app, and the API token that requested them.
      `create table sign_in_link (
        hash ${bytes} not null primary key,
        account_key ${int} not null references account (key) on delete cascade,
        epoch ${int} not null,
        api_token_key ${int} not null references api_token (key) on delete cascade,
        expires_at ${int} not null
      )`,
      'create index sign_in_link_by_account on sign_in_link (account_key)',
      'create index sign_in_link_by_api_token on sign_in_link (api_token_key)',
      'create index sign_in_link_by_time on sign_in_link (expires_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
