import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { measureRawHttp } from '../limits/raw-http.ts'
import { p50Row, type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'

const CLIENTS = 8
const versions = ['api/v2.1', 'api2']

/** Listings of a small folder by many clients, and of a large one by one client. */
export const listing: Scenario = {
  name: 'listing',
  async run(context) {
    await using workspace = await context.workspace()
    const many = context.size(10_000, 500)
    const library = await workspace.prepare(async (builder) => {
      const made = await builder.newLibrary('Listed')
      await builder.addFiles(made, at('/small'), 100, 'file')
      await builder.addFiles(made, at('/big'), many, 'file')
      await builder.catchUp(made)
      return made.info.id
    })
    const server = await workspace.serve()
    const rows: Row[] = []
    for (const version of versions) {
      const path = `/${version}/repos/${library}/dir/?p=`
      rows.push(await small(context, server, version, `${path}/small`))
      rows.push(await big(context, server, version, `${path}/big`, many))
    }
    return rows
  },
}

async function small(context: Context, server: BenchServer, version: string, path: string): Promise<Row> {
  const { measured, warmUp } = context
  const common = { connections: CLIENTS, measured, warmUp }
  const load = await server.load({ ...common, request: { method: 'GET', path } })
  const raw = await measureRawHttp({ ...common, bytes: load.bytesPerResponse })
  return rateRow(`listing of 100 entries (${version}), ${CLIENTS} clients`, load, {
    limit: { value: raw.perSecond, of: 'node:http, same bytes' },
    target: { atLeast: 2500 },
  })
}

async function big(
  context: Context,
  server: BenchServer,
  version: string,
  path: string,
  entries: number,
): Promise<Row> {
  const common = {
    connections: 1,
    measured: { count: context.size(100, 5) },
    warmUp: { count: context.size(20, 1) },
  }
  const load = await server.load({ ...common, request: { method: 'GET', path } })
  const raw = await measureRawHttp({ ...common, bytes: load.bytesPerResponse })
  return p50Row(`listing of ${entries.toLocaleString('en-US')} entries (${version}), p50`, load, {
    limit: { value: raw.p50Ms, of: 'node:http, same bytes' },
    target: { atMost: 25 },
  })
}
