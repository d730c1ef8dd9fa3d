import type { Migration } from './types.ts'

export const fileRequests: Migration = {
  version: 74,
  name: 'what upload links ask of their visitors',
  // Earlier programs ask nothing, and end no upload at the deadline.
  kind: 'expand',
  async up(tx, { text }) {
    // JSON. Null: the link asks nothing.
    await tx.run(`alter table link add column request ${text}`)
    // JSON: how the visitor of a link introduced themself, and the folder that belongs to them. Null: not asked.
    await tx.run(`alter table ticket add column sender ${text}`)
  },
}
