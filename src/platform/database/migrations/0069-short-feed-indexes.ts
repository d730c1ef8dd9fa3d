import type { Migration } from './types.ts'

export const shortFeedIndexes: Migration = {
  version: 69,
  name: 'short indexes of the feed',
  // Earlier programs work without the indexes that are dropped, but sort what they read.
  kind: 'contract',
  async up(tx, { key }) {
    // PostgreSQL stores the equal entries of an index once, so without the rank and the key those of one second take a fifth. It sorts them when they are
    // read. SQLite stores each entry, and the key anyway.
    if (!key.startsWith('bigint')) return
    await tx.run('create index activity_by_second on activity (library_key, at)')
    await tx.run('create index activity_by_author_and_second on activity (library_key, author, at)')
    await tx.run('drop index activity_by_time')
    await tx.run('drop index activity_by_author')
  },
}
