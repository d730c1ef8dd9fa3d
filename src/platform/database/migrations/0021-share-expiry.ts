import type { Migration } from './types.ts'

export const shareExpiry: Migration = {
  version: 21,
  name: 'share expiry',
  async up(tx, { int }) {
    // Unix seconds. Null never expires, like every share of earlier versions.
    await tx.run(`alter table share add column expires_at ${int}`)
    await tx.run('create index share_by_expiry on share (expires_at) where expires_at is not null')
  },
}
