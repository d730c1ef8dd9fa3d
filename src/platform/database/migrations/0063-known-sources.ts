import type { Migration } from './types.ts'

export const knownSources: Migration = {
  version: 63,
  name: 'known sources',
  kind: 'expand',
  async up(tx, { text }) {
    // Where right passwords came from lately: JSON, times in Unix seconds by hashed network or device. Null for none. Nodes of older versions delete
    // such rows, and then wait for the next right password.
    await tx.run(`alter table password_attempt add column known ${text}`)
  },
}
