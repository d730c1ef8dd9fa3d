import type { Migration } from './types.ts'

export const visitorsChanges: Migration = {
  version: 30,
  name: "visitors' changes",
  async up(tx, { int }) {
    // Set where a visitor of a link made the change. The author is then the creator of the link. Earlier uploads through links are not known.
    const statements = [
      `alter table commit_object add column via_link ${int} not null default 0`,
      `alter table activity add column via_link ${int} not null default 0`,
      `alter table first_seen add column via_link ${int} not null default 0`,
      `alter table library add column modifier_via_link ${int} not null default 0`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
