import type { Migration } from './types.ts'

export const backups: Migration = {
  version: 17,
  name: 'backups',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Backups and verifications of them. kind: backup or verify. outcome: running, succeeded or failed.
      `create table backup_run (
        key ${key},
        kind ${text} not null,
        target ${text} not null,
        snapshot ${text},
        outcome ${text} not null,
        message ${text} not null default '',
        stored_bytes ${int} not null default 0,
        started_at ${int} not null,
        ended_at ${int}
      )`,
      'create index backup_run_by_kind on backup_run (kind, outcome, key)',
      // The head of a library when it was restored from a backup. Commits made after the backup are lost, but sync clients may still build
      // on them: their common ancestor with the restored history is this commit.
      `create table restore_point (
        library_key ${int} primary key references library (key) on delete cascade,
        head ${bytes} not null,
        restored_at ${int} not null
      )`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
