import type { Migration } from './types.ts'

export const mailIntervals: Migration = {
  version: 47,
  name: 'mail intervals',
  kind: 'expand',
  async up(tx, { int }) {
    // How long notifications are collected for one mail, in seconds. Null: as long as mail_notices says.
    await tx.run(`alter table account add column mail_interval ${int}`)
    // How long changes in monitored libraries are collected for one mail, in seconds. 0: they are not mailed.
    await tx.run(`alter table account add column update_mail_interval ${int} not null default 0`)
  },
}
