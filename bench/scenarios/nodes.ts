import { Cluster, measureScaling } from '../scaling.ts'
import type { Scenario } from '../scenario.ts'

/** The same work on 1, 2 and 3 nodes on PostgreSQL. */
export const nodes: Scenario = {
  name: 'nodes',
  async run(context) {
    if (context.database === 'sqlite') return []
    const start = Cluster.startNodes
    return measureScaling(context, { of: 'node', plural: 'nodes', counts: [1, 2, 3], start })
  },
}
