import type { Migration } from './types.ts'

export const shareGivers: Migration = {
  version: 57,
  name: 'shares by giver',
  kind: 'expand',
  async up(tx) {
    // The shares of one giver are counted when another is made.
    await tx.run('create index share_by_giver on share (granted_by, grantee, grantee_key)')
  },
}
