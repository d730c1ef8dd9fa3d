import { at } from '../../test/support/core.ts'
import { chosenSizes, latency, pointRows } from '../curve.ts'
import type { Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const COUNTS = [1, 10, 100, 1000, 5000]
const CURVE = { title: 'Number of connections', of: 'connections' }
const ENTRIES = 100
/** With fewer connections the memory varies more than they need. */
const TELLING = 1000

/** How latency and memory grow with the number of connections, each with one request at a time. */
export const curveConnections: Scenario = {
  name: 'curve-connections',
  async run(context) {
    await using workspace = await context.workspace()
    const id = await workspace.prepare(async (builder) => {
      const made = await builder.newLibrary('Listed')
      await builder.addFiles(made, at('/folder'), ENTRIES, 'file')
      await builder.catchUp(made)
      return made.info.id
    })
    const rows: Row[] = []
    let peakOfOne: number | undefined
    for (const connections of chosenSizes(context, COUNTS, 100)) {
      // Started anew, because memory that is free again is not returned at once.
      const server = await workspace.serve()
      const { measured, warmUp } = context
      const load = (path: string) =>
        server.load({ connections, measured, warmUp, request: { method: 'GET', path } })
      const pings = await load('/api2/auth/ping/')
      const lists = await load(`/api/v2.1/repos/${id}/dir/?p=/folder`)
      await server.stop()
      const peak = Math.max(pings.usage.peakBytes, lists.usage.peakBytes)
      rows.push(
        ...pointRows(CURVE, connections, [
          latency('ping', pings),
          latency(`list ${ENTRIES} entries`, lists),
          { series: 'pings', value: pings.perSecond, unit: 'per s' },
          { series: `lists of ${ENTRIES} entries`, value: lists.perSecond, unit: 'per s' },
        ]),
      )
      peakOfOne ??= peak
      if (connections < TELLING) continue
      rows.push({
        what: `${CURVE.title}, ${connections.toLocaleString('en-US')}: memory for each of them`,
        value: (peak - peakOfOne) / 1e3 / connections,
        unit: 'KB',
      })
    }
    return rows
  },
}
