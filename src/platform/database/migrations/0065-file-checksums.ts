import type { Migration } from './types.ts'

export const fileChecksums: Migration = {
  version: 65,
  name: 'file checksums',
  kind: 'expand',
  async up(tx, { bytes }) {
    // MD5 and SHA-1 of the content of a file, one after the other, if a client sent a checksum with it. Null for others.
    await tx.run(`alter table fs_object add column checksums ${bytes}`)
  },
}
