import type { Migration } from './types.ts'

export const photos: Migration = {
  version: 23,
  name: 'photos',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Images and videos in the current trees of libraries that are not encrypted. Derived (I3).
      // kind: 0 image, 1 video. taken_at: local time of the camera, as seconds since 1970; the modification time in UTC if the file does not
      // say. day: days since 1970 of taken_at. utc_offset: minutes. due_at: when the file is to be read; null once it was. seq: the commit that
      // the row was last compared with.
      `create table photo (
        key ${key},
        library_key ${int} not null references library (key) on delete cascade,
        parent ${text} not null,
        name ${text} not null,
        file_id ${bytes} not null,
        kind ${int} not null,
        size ${int} not null,
        mtime ${int} not null,
        original_at ${int},
        utc_offset ${int},
        taken_at ${int} not null,
        day ${int} not null,
        width ${int},
        height ${int},
        thumbhash ${bytes},
        due_at ${int},
        attempts ${int} not null default 0,
        seq ${int} not null,
        unique (library_key, parent, name)
      )`,
      'create index photo_by_time on photo (library_key, taken_at, key, day)',
      'create index photo_by_content on photo (library_key, file_id)',
      'create index photo_by_seq on photo (library_key, seq)',
      'create index photo_due on photo (library_key, due_at) where due_at is not null',
      // The tree that the rows of a library describe. claim is not 0 while they are written in several transactions.
      `create table photo_library (
        library_key ${int} primary key references library (key) on delete cascade,
        seq ${int} not null,
        root ${bytes} not null,
        claim ${int} not null default 0,
        claimed_until ${int} not null default 0
      )`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
