import type { Migration } from './types.ts'

export const comments: Migration = {
  version: 22,
  name: 'comments',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // A file with comments. Everything said about it refers to this row, which is the only one bound to its path.
      `create table annotated_file (
        key ${key},
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        missing_since ${int},
        unique (library_key, path_key)
      )`,
      // The e-mail stays when the account is removed, as in commits. Rights depend on the key.
      `create table file_comment (
        key ${key},
        file_key ${int} not null references annotated_file (key) on delete cascade,
        author_key ${int} references account (key) on delete set null,
        author ${text} not null,
        comment ${text} not null,
        detail ${text} not null,
        resolved ${int} not null,
        created_at ${int} not null,
        updated_at ${int} not null
      )`,
      'create index file_comment_by_file on file_comment (file_key)',
      'create index file_comment_by_author on file_comment (author_key)',
      `create table file_participant (
        file_key ${int} not null references annotated_file (key) on delete cascade,
        account_key ${int} not null references account (key) on delete cascade,
        primary key (file_key, account_key)
      )`,
      'create index file_participant_by_account on file_participant (account_key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
