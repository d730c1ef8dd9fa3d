import type { Migration } from './types.ts'

export const onboarding: Migration = {
  version: 29,
  name: 'onboarding',
  async up(tx, { int, text }) {
    // Comma-separated names of what the user dismissed.
    await tx.run(`alter table account add column onboarding_dismissed ${text} not null default ''`)
    // 1 while the user has not replaced an assigned password.
    await tx.run(`alter table account add column password_assigned ${int} not null default 0`)
    // Users of an earlier version need no introduction.
    await tx.run("update account set onboarding_dismissed = 'welcome,setup'")
  },
}
