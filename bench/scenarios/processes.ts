import { Cluster, measureScaling, type Scaling } from '../scaling.ts'
import type { Scenario } from '../scenario.ts'

/** The same work on 1, 2 and 4 processes of one server on SQLite. The one process has no supervisor. */
export const processes: Scenario = {
  name: 'processes',
  async run(context) {
    if (context.database !== 'sqlite') return []
    const start: Scaling['start'] = (workspace, count) => Cluster.startProcesses(workspace, count)
    return measureScaling(context, { of: 'process', plural: 'processes', counts: [1, 2, 4], start })
  },
}
