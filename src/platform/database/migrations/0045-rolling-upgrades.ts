import type { Migration } from './types.ts'

export const rollingUpgrades: Migration = {
  version: 45,
  name: 'rolling upgrades',
  kind: 'expand',
  async up(tx, { int, text }) {
    // What the step means for nodes of older versions: expand or contract. Null: all of them have to be stopped first.
    await tx.run(`alter table schema_migration add column kind ${text}`)
    // The newest step that the node knows. Null for nodes of versions before this step.
    await tx.run(`alter table cluster_node add column schema_version ${int}`)
  },
}
