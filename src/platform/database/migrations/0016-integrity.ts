import type { Migration } from './types.ts'

export const integrity: Migration = {
  version: 16,
  name: 'integrity',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Blocks whose stored bytes are known to be missing (problem 1) or damaged (2). The row goes when the bytes are
      // stored again.
      `create table damaged_block (
        id ${bytes} primary key,
        problem ${int} not null,
        found_at ${int} not null
      )`,
      // The background scrub: the last block of the pass under way, and the last complete pass. One row, with key 1.
      `create table scrub_progress (
        key ${int} primary key,
        position ${bytes} not null,
        started_at ${int} not null,
        blocks ${int} not null default 0,
        bytes ${int} not null default 0,
        found ${int} not null default 0,
        last_started_at ${int},
        last_finished_at ${int},
        last_blocks ${int} not null default 0,
        last_bytes ${int} not null default 0,
        last_found ${int} not null default 0
      )`,
      // Passes of carrel check. Scope is what the command was asked for, so that an interrupted pass is resumed by the
      // same command only.
      `create table check_pass (
        key ${key},
        scope ${text} not null,
        started_at ${int} not null,
        finished_at ${int},
        libraries ${int} not null default 0,
        objects ${int} not null default 0,
        blocks ${int} not null default 0,
        bytes ${int} not null default 0
      )`,
      `create table check_finding (
        key ${key},
        pass_key ${int} not null references check_pass (key) on delete cascade,
        library_key ${int} not null,
        finding ${text} not null
      )`,
      'create index check_finding_by_pass on check_finding (pass_key, library_key)',
      // Libraries that a pass has walked, and the state it saw.
      `create table checked_library (
        pass_key ${int} not null references check_pass (key) on delete cascade,
        library_key ${int} not null references library (key) on delete cascade,
        head ${bytes} not null,
        oldest_seq ${int} not null,
        primary key (pass_key, library_key)
      )`,
      'create index checked_library_by_library on checked_library (library_key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
