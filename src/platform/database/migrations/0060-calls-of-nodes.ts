import type { Migration } from './types.ts'

export const callsOfNodes: Migration = {
  version: 60,
  name: 'calls of nodes',
  kind: 'expand',
  async up(tx, { int, text }) {
    // The calls that clients near a rate limit made at the node in the last minute, as a JSON object, and when it counted them. Null until there is one.
    await tx.run(`alter table cluster_node add column calls ${text}`)
    await tx.run(`alter table cluster_node add column calls_at ${int}`)
  },
}
