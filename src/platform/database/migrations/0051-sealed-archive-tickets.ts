import type { Migration } from './types.ts'

export const sealedArchiveTickets: Migration = {
  version: 51,
  name: 'sealed tickets of archives',
  kind: 'expand',
  async up(tx, { bytes }) {
    // Sealed with the secret of the server, for the events of a node that takes the archive over. None of an encrypted library, whose key the ticket opens.
    await tx.run(`alter table archive_ticket add column sealed_ticket ${bytes}`)
  },
}
