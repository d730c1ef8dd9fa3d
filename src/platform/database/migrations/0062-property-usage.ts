import type { Migration } from './types.ts'

export const propertyUsage: Migration = {
  version: 62,
  name: 'property usage',
  kind: 'expand',
  async up(tx, { int }) {
    // Bytes of all WebDAV properties of a library. What nodes of older versions change meanwhile is not counted.
    await tx.run(`create table webdav_property_usage (
      library_key ${int} primary key references library (key) on delete cascade,
      bytes ${int} not null
    )`)
    await tx.run(
      `insert into webdav_property_usage (library_key, bytes)
       select library_key, sum(octet_length(properties)) from webdav_property group by library_key`,
    )
  },
}
