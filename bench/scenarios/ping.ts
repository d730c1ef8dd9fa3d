import { measureRawHttp } from '../limits/raw-http.ts'
import { rateRow } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const CLIENTS = 8

/** The cheapest calls: cost of routing, and of an API token on top of it. */
export const ping: Scenario = {
  name: 'ping',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    const { measured, warmUp } = context
    const common = { connections: CLIENTS, measured, warmUp }
    const open = await server.load({
      ...common,
      request: { method: 'GET', path: '/api2/ping/', anonymous: true },
    })
    const signedIn = await server.load({ ...common, request: { method: 'GET', path: '/api2/auth/ping/' } })
    const raw = await measureRawHttp({ ...common, bytes: open.bytesPerResponse })
    const limit = { value: raw.perSecond, of: 'node:http' }
    return [
      rateRow(`ping, ${CLIENTS} clients`, open, { limit, target: { atLeast: 8000 } }),
      rateRow(`ping with an API token, ${CLIENTS} clients`, signedIn, { limit }),
    ]
  },
}
