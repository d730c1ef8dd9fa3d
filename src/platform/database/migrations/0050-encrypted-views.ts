import type { Migration } from './types.ts'

export const encryptedViews: Migration = {
  version: 50,
  name: 'views of encrypted libraries',
  kind: 'expand',
  async up(tx, { text }) {
    // Hex. The check value of the password of an encrypted library for the id of the view, which is part of it.
    await tx.run(`alter table sub_library add column password_check ${text}`)
  },
}
