import type { Migration } from './types.ts'

export const tasks: Migration = {
  version: 3,
  name: 'tasks',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Copies and moves from one library to another. They outlive the process that began them: whoever goes
      // on with one writes its own claim, and the one before can then change nothing more.
      `create table copy_move_task (
        key ${key},
        id ${text} not null unique,
        account_key ${int} not null references account (key) on delete cascade,
        operation ${text} not null,
        source_key ${int} not null references library (key) on delete cascade,
        source_root ${bytes},
        parent ${text} not null,
        names ${text} not null,
        target_key ${int} not null references library (key) on delete cascade,
        folder ${text} not null,
        state ${text} not null,
        claim ${text} not null default '',
        done ${int} not null default 0,
        total ${int} not null default 0,
        failed_reason ${text} not null default '',
        created_at ${int} not null,
        updated_at ${int} not null,
        finished_at ${int}
      )`,
      'create index copy_move_task_by_end on copy_move_task (finished_at)',
      'create index copy_move_task_by_account on copy_move_task (account_key)',
      'create index copy_move_task_by_source on copy_move_task (source_key)',
      'create index copy_move_task_by_target on copy_move_task (target_key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
