import type { Migration } from './types.ts'

export const blockStoreOfNodes: Migration = {
  version: 40,
  name: 'block store of nodes',
  async up(tx, { text }) {
    // The address of the block store that a node writes to: the old store of a move is deleted once no node uses it.
    await tx.run(`alter table cluster_node add column blocks ${text}`)
  },
}
