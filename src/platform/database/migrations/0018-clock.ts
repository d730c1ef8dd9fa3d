import type { Migration } from './types.ts'

export const clock: Migration = {
  version: 18,
  name: 'clock',
  async up(tx, { int }) {
    // The newest time that a server trusted. Deletions of what has expired wait if the clock is far beyond it.
    await tx.run(
      `create table clock_state (
        key ${int} primary key check (key = 1),
        seen_at ${int} not null,
        confirmations ${int} not null default 0
      )`,
    )
  },
}
