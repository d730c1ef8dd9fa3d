import { at } from '../../test/support/core.ts'
import { measureRawHttp } from '../limits/raw-http.ts'
import { type Row, rateRow } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const CLIENTS = 8
const LIBRARIES = 10

/** Typical small reads: details of files spread over a folder, links, the list of libraries. */
export const reading: Scenario = {
  name: 'reading',
  async run(context) {
    await using workspace = await context.workspace()
    const files = context.size(1000, 100)
    const library = await workspace.prepare(async (builder) => {
      for (let n = 1; n < LIBRARIES; n++) await builder.newLibrary(`Library ${n}`)
      const made = await builder.newLibrary('Read')
      await builder.addFiles(made, at('/folder'), files, 'file')
      await builder.catchUp(made)
      return made.info.id
    })
    const server = await workspace.serve()
    const calls = {
      'file detail': `/api2/repos/${library}/file/detail/?p=/folder/file-{n%${files}}`,
      'upload-link': `/api2/repos/${library}/upload-link/?p=/folder`,
      [`list of ${LIBRARIES} libraries (api2)`]: '/api2/repos/',
      [`list of ${LIBRARIES} libraries (api/v2.1)`]: '/api/v2.1/repos/',
    }
    const rows: Row[] = []
    for (const [what, path] of Object.entries(calls)) {
      const { measured, warmUp } = context
      const common = { connections: CLIENTS, measured, warmUp }
      const load = await server.load({ ...common, request: { method: 'GET', path } })
      const raw = await measureRawHttp({ ...common, bytes: load.bytesPerResponse })
      rows.push(
        rateRow(`${what}, ${CLIENTS} clients`, load, {
          limit: { value: raw.perSecond, of: 'node:http, same bytes' },
          target: { atLeast: 2500 },
        }),
      )
    }
    return rows
  },
}
