import type { Migration } from './types.ts'

export const indexedUploads: Migration = {
  version: 43,
  name: 'indexed uploads',
  async up(tx, { int, bytes, text }) {
    const statements = [
      // Results of uploads whose client polls for them, for an hour.
      `create table indexed_upload (
        id ${text} not null primary key,
        ticket_hash ${bytes} not null,
        total ${int} not null,
        result ${text} not null,
        expires_at ${int} not null
      )`,
      'create index indexed_upload_by_time on indexed_upload (expires_at)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
