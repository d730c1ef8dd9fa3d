import { at } from '../../test/support/core.ts'
import { p50Row, type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'

const ENTRIES = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
/** Larger folders are listed in pages by clients; the whole list is hundreds of megabytes. */
const MOST_LISTED = 100_000
const CONNECTIONS = [1, 10, 100, 1000, 5000]

/** How the cost of a request grows with the size of a folder and the number of connections. */
export const curves: Scenario = {
  name: 'curves',
  async run(context) {
    return [...(await byEntries(context)), ...(await byConnections(context))]
  },
}

async function byEntries(context: Context): Promise<Row[]> {
  await using workspace = await context.workspace()
  const sizes = ENTRIES.filter((entries) => entries <= context.size(Number.POSITIVE_INFINITY, 100))
  const library = await workspace.prepare(async (builder) => {
    const made = await builder.newLibrary('Folders')
    for (const entries of sizes) await builder.addFiles(made, at(`/${entries}`), entries, 'file')
    await builder.catchUp(made)
    return made.info.id
  })
  const server = await workspace.serve()
  const rows: Row[] = []
  for (const entries of sizes) {
    const common = {
      connections: 1,
      warmUp: { count: context.size(10, 1) },
      measured: { count: context.size(50, 3) },
    }
    const named = entries.toLocaleString('en-US')
    if (entries <= MOST_LISTED) {
      const path = `/api/v2.1/repos/${library}/dir/?p=/${entries}`
      const listed = await server.load({ ...common, request: { method: 'GET', path } })
      const point = { curve: 'Listing a folder', x: entries, of: 'entries' }
      rows.push({ ...p50Row(`curve: listing of ${named} entries, p50`, listed), point })
    }
    const path = `/api/v2.1/repos/${library}/file/?p=/${entries}/added-{n}`
    const added = await server.load({
      ...common,
      request: { method: 'POST', path, form: 'operation=create' },
    })
    const point = { curve: 'Adding a file to a folder', x: entries, of: 'entries' }
    rows.push({ ...p50Row(`curve: add a file to ${named} entries, p50`, added), point })
  }
  return rows
}

async function byConnections(context: Context): Promise<Row[]> {
  await using workspace = await context.workspace()
  const server = await workspace.serve()
  const rows: Row[] = []
  for (const connections of CONNECTIONS.filter((count) => count <= context.size(5000, 100))) {
    const { measured, warmUp } = context
    const load = await server.load({
      connections,
      measured,
      warmUp,
      request: { method: 'GET', path: '/api2/auth/ping/' },
    })
    const named = `${connections.toLocaleString('en-US')} connections`
    const of = 'connections'
    rows.push(
      {
        ...rateRow(`curve: ping with an API token, ${named}`, load),
        point: { curve: 'Pings', x: connections, of },
      },
      {
        what: `curve: memory peak, ${named}`,
        value: load.usage.peakBytes / 1e6,
        unit: 'MB',
        point: { curve: 'Memory', x: connections, of },
      },
    )
  }
  return rows
}
