import type { Migration } from './types.ts'

export const webdavNames: Migration = {
  version: 55,
  name: 'names in the WebDAV root',
  kind: 'expand',
  async up(tx, { int, text }) {
    // No reference to the library: a name whose library is gone stays taken, so that a stored path never means another one. The primary key
    // decides between two nodes that assign a name at once.
    await tx.run(
      `create table webdav_name (
        account_key ${int} not null references account (key) on delete cascade,
        folded_name ${text} not null,
        name ${text} not null,
        library_id ${text} not null,
        primary key (account_key, folded_name)
      )`,
    )
  },
}
