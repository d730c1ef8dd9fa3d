import type { Migration } from './types.ts'

export const passwordAttempts: Migration = {
  version: 38,
  name: 'password attempts',
  async up(tx, { int, text }) {
    // Recent wrong passwords by keyed hashes of what they were for. attempts: JSON, times in Unix seconds by hashed source.
    await tx.run(
      `create table password_attempt (
        subject ${text} primary key,
        attempts ${text} not null,
        updated_at ${int} not null
      )`,
    )
    await tx.run('create index password_attempt_by_time on password_attempt (updated_at)')
  },
}
