import type { Migration } from './types.ts'

export const fileViews: Migration = {
  version: 26,
  name: 'file views',
  async up(tx, { int }) {
    // A view shows a folder, or one file as the only entry of its root.
    await tx.run(`alter table sub_library add column is_file ${int} not null default 0`)
  },
}
