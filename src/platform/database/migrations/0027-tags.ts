import type { Migration } from './types.ts'

export const tags: Migration = {
  version: 27,
  name: 'tags',
  async up(tx, { key, int, text }) {
    const statements = [
      // `name_folded` is what makes a name taken.
      `create table library_tag (
        key ${key},
        library_key ${int} not null references library (key) on delete cascade,
        name ${text} not null,
        name_folded ${text} not null,
        color ${text} not null,
        unique (library_key, name_folded)
      )`,
      `create table file_tag (
        key ${key},
        file_key ${int} not null references annotated_file (key) on delete cascade,
        tag_key ${int} not null references library_tag (key) on delete cascade,
        unique (file_key, tag_key)
      )`,
      'create index file_tag_by_tag on file_tag (tag_key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
