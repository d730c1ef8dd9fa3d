import type { Registry } from 'prom-client'
import { registerGauges, type StateMetric } from '../../base/metrics.ts'
import type { ClusterNode } from './cluster-node.ts'

interface ClusterState {
  readonly alive: number
  readonly dead: number
  /** Held by this node. */
  readonly leases: number
  readonly roundTripSeconds: number
  readonly clockOffset: number
}

const gauges: readonly StateMetric<ClusterState>[] = [
  { name: 'carrel_nodes_alive', help: 'Nodes with a recent heartbeat', of: ({ alive }) => alive },
  {
    name: 'carrel_nodes_dead',
    help: 'Nodes without a recent heartbeat whose work nobody has taken over yet',
    of: ({ dead }) => dead,
  },
  {
    name: 'carrel_node_leases',
    help: 'Leases of this node for work that one node does for all',
    aggregator: 'sum',
    of: ({ leases }) => leases,
  },
  {
    name: 'carrel_database_round_trip_seconds',
    help: 'Time the last heartbeat of this node took in the database',
    aggregator: 'average',
    of: ({ roundTripSeconds }) => roundTripSeconds,
  },
  {
    name: 'carrel_clock_offset_seconds',
    help: 'The clock of the database minus that of this node',
    aggregator: 'average',
    of: ({ clockOffset }) => clockOffset,
  },
]

/** Registers the metrics of the nodes on one database. */
export function registerClusterMetrics(registry: Registry, node: ClusterNode): void {
  registerGauges(registry, gauges, async () => {
    const nodes = await node.list()
    const alive = nodes.filter(({ isAlive }) => isAlive).length
    const leases = nodes.find(({ id }) => id === node.id)?.leases.length ?? 0
    const { roundTripSeconds, clockOffset } = node
    return { alive, dead: nodes.length - alive, leases, roundTripSeconds, clockOffset }
  })
}
