import { measureLock } from '../lock-times.ts'
import { Cluster, measureScaling, type Scaling } from '../scaling.ts'
import type { Scenario } from '../scenario.ts'

/** The same work on 1, 2 and 4 processes of one server on SQLite. The one process has no supervisor. */
export const processes: Scenario = {
  name: 'processes',
  async run(context) {
    if (context.database !== 'sqlite') return []
    const start: Scaling['start'] = (workspace, count) => Cluster.startProcesses(workspace, count)
    const { p50Ms, p99Ms, cpuMs } = await measureLock()
    return [
      { what: 'a lock that the supervisor grants', value: p50Ms, unit: 'ms', p50Ms, p99Ms },
      { what: 'a lock that the supervisor grants: CPU of the process', value: cpuMs, unit: 'ms' },
      ...(await measureScaling(context, { of: 'process', plural: 'processes', counts: [1, 2, 4], start })),
    ]
  },
}
