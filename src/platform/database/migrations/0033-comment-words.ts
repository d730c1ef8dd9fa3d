import type { Migration } from './types.ts'

export const commentWords: Migration = {
  version: 33,
  name: 'comment words',
  async up(tx, { int, text }) {
    const statements = [
      // Finds comments by their words (I3). The words of comments that exist are added by a maintenance job.
      `create table comment_word (
        library_key ${int} not null,
        word ${text} not null,
        comment_key ${int} not null references file_comment (key) on delete cascade,
        primary key (library_key, word, comment_key)
      )`,
      'create index comment_word_by_comment on comment_word (comment_key)',
      `alter table file_comment add column words_version ${int} not null default 0`,
      'create index file_comment_unindexed on file_comment (key) where words_version < 1',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
