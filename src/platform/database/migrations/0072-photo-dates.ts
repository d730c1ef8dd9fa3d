import type { Migration } from './types.ts'

export const photoDates: Migration = {
  version: 72,
  name: 'corrected dates of photos',
  // Earlier programs show a photo at the date in its file again when its folder changes, and ignore the rows.
  kind: 'expand',
  async up(tx, { int, bytes, text }) {
    // Dates that people corrected, beside the files, which stay as they are. Not derived. Bound to the path, and to the content of file_id: another content at
    // the path has a date of its own. taken_at: local time, as seconds since 1970.
    await tx.run(`create table photo_date (
      library_key ${int} not null references library (key) on delete cascade,
      path_key ${bytes} not null,
      path ${text} not null,
      file_id ${bytes} not null,
      taken_at ${int} not null,
      primary key (library_key, path_key)
    )`)
    // Of photo_date, so that the order of the timeline needs no join.
    await tx.run(`alter table photo add column corrected_at ${int}`)
  },
}
