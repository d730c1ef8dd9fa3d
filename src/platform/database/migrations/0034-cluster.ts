import type { Migration } from './types.ts'

// Times are Unix seconds of the database clock.
export const cluster: Migration = {
  version: 34,
  name: 'cluster',
  async up(tx, { int, text }) {
    const statements = [
      // One row per server process. heartbeat_at is 0 after a shutdown, until another node has taken over its tasks.
      `create table cluster_node (
        id ${text} primary key,
        version ${text} not null,
        address ${text} not null,
        started_at ${int} not null,
        heartbeat_at ${int} not null
      )`,
      // Named leases of jobs that one node runs for the cluster. A lease expires with the heartbeat of its node.
      `create table cluster_lease (
        name ${text} primary key,
        node_id ${text} not null references cluster_node (id) on delete cascade,
        since ${int} not null
      )`,
      'create index cluster_lease_by_node on cluster_lease (node_id)',
      // What all nodes have to agree on, such as the check value of the secret.
      `create table cluster_value (
        name ${text} primary key,
        value ${text} not null
      )`,
      // The node that works on a task. Null for a task that any node may take.
      `alter table copy_move_task add column node_id ${text}`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
