import type { Migration } from './types.ts'

export const checkProgress: Migration = {
  version: 19,
  name: 'check progress',
  async up(tx, { key, int, bytes, text }) {
    // What an unfinished pass has done in the library that it is in: ids of dirs that are checked with everything below them, 20 bytes each, and faults
    // found so far. Deleted when the library is done.
    await tx.run(
      `create table check_progress (
        key ${key},
        pass_key ${int} not null references check_pass (key) on delete cascade,
        library_key ${int} not null references library (key) on delete cascade,
        dirs ${bytes} not null,
        faults ${text} not null,
        objects ${int} not null
      )`,
    )
    await tx.run('create index check_progress_by_pass on check_progress (pass_key, library_key)')
    await tx.run('create index check_progress_by_library on check_progress (library_key)')
  },
}
