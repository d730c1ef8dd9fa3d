import type { Migration } from './types.ts'

export const confirmedCredentials: Migration = {
  version: 56,
  name: 'confirmed credentials',
  kind: 'expand',
  async up(tx, { int }) {
    const statements = [
      // When its holder last gave the password. Null for tokens from before, and for those that were issued without one.
      `alter table api_token add column signed_in_at ${int}`,
      // The session that a library token ends with. Null for one that was confirmed with the password, which belongs to the library.
      `alter table scoped_token add column api_token_key ${int} references api_token (key) on delete cascade`,
      'create index scoped_token_by_api_token on scoped_token (api_token_key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
