import type { Migration } from './types.ts'

export const devicesOfSignIns: Migration = {
  version: 64,
  name: 'devices of sign-ins',
  kind: 'expand',
  async up(tx, { text }) {
    // The device of a client that signs in through a browser, as JSON. Null for other requests, and if the client did not send it.
    await tx.run(`alter table device_authorization add column device ${text}`)
  },
}
