import { at } from '../../test/support/core.ts'
import { measureRawHttp } from '../limits/raw-http.ts'
import type { MeasuredServer } from '../measured-server.ts'
import { RemoteServer } from '../remote-server.ts'
import { p50Row, type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { fill, randomContent } from '../transfers.ts'

const CLIENTS = 8
const RAW = 'node:http, same bytes'
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
    return await listBoth(context, server, { small: library, big: library }, many)
  },
  async runAt(context, target) {
    await using server = new RemoteServer(target)
    const many = context.size(10_000, 500)
    const small = await server.client.createLibrary('small folder')
    const big = await server.client.createLibrary('big folder')
    const contents = Array.from({ length: 100 }, (_, k) => randomContent(32, k))
    await fill(server, small, 'small', contents, 1)
    await fill(server, big, 'big', contents, many / contents.length)
    return await listBoth(context, server, { small, big }, many)
  },
}

/** Lists the folders `/small` and `/big` of their libraries. */
async function listBoth(
  context: Context,
  server: MeasuredServer,
  libraries: { readonly small: string; readonly big: string },
  many: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const version of versions) {
    const path = (name: 'small' | 'big') => `/${version}/repos/${libraries[name]}/dir/?p=/${name}`
    rows.push(await small(context, server, version, path('small')))
    rows.push(await big(context, server, version, path('big'), many))
  }
  return rows
}

async function small(context: Context, server: MeasuredServer, version: string, path: string): Promise<Row> {
  const { measured, warmUp } = context
  const common = { connections: CLIENTS, measured, warmUp }
  const load = await server.load({ ...common, request: { method: 'GET', path } })
  const raw = server.isRemote ? undefined : await measureRawHttp({ ...common, bytes: load.bytesPerResponse })
  return rateRow(`listing of 100 entries (${version}), ${CLIENTS} clients`, load, {
    ...(raw && { limit: { value: raw.perSecond, of: RAW } }),
    target: { atLeast: 2500 },
  })
}

async function big(
  context: Context,
  server: MeasuredServer,
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
  const raw = server.isRemote ? undefined : await measureRawHttp({ ...common, bytes: load.bytesPerResponse })
  return p50Row(`listing of ${entries.toLocaleString('en-US')} entries (${version}), p50`, load, {
    ...(raw && { limit: { value: raw.p50Ms, of: RAW } }),
    target: { atMost: 25 },
  })
}
