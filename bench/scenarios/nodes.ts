import { Cluster, measureScaling, type Scaling } from '../scaling.ts'
import type { Scenario } from '../scenario.ts'

/** The same work on 1, 2 and 3 nodes on PostgreSQL. */
export const nodes: Scenario = {
  name: 'nodes',
  async run(context) {
    if (context.database === 'sqlite') return []
    const start: Scaling['start'] = (workspace, count) => Cluster.startNodes(workspace, count)
    return measureScaling(context, { of: 'node', plural: 'nodes', counts: [1, 2, 3], start })
  },
}
