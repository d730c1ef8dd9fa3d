import type { Migration } from './types.ts'

export const webdav: Migration = {
  version: 46,
  name: 'webdav',
  kind: 'expand',
  async up(tx, { int, bytes, text }) {
    // Scope, depth and holders of a lock taken by WebDAV, as JSON. Null for a lock taken otherwise.
    await tx.run(`alter table file_lock add column webdav ${text}`)
    // Dead properties of an item, as JSON. folder_key is the hash of the path of its parent folder.
    await tx.run(`create table webdav_property (
      library_key ${int} not null references library (key) on delete cascade,
      path_key ${bytes} not null,
      path ${text} not null,
      folder_key ${bytes} not null,
      properties ${text} not null,
      primary key (library_key, path_key)
    )`)
    await tx.run('create index webdav_property_by_folder on webdav_property (library_key, folder_key)')
  },
}
