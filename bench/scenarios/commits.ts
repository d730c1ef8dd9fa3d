import { at } from '../../test/support/core.ts'
import { numbered } from '../library-builder.ts'
import { withFlushRate } from '../limits/flush-rate.ts'
import { p99Row, type Row, rateRow } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const FOLDERS = 100

const cases = [
  { what: 'commits, 1 writer', writers: 1, commits: 2000, folders: FOLDERS, target: 400 },
  { what: 'commits, 32 writers, one folder', writers: 32, commits: 8000, folders: 1, target: 2000 },
  { what: 'commits, 32 writers, 100 folders', writers: 32, commits: 8000, folders: FOLDERS, target: 2000 },
]

/** Durable commits into one library, each adding one empty file and acknowledged by itself. */
export const commits: Scenario = {
  name: 'commits',
  async run(context) {
    await using workspace = await context.workspace()
    const libraries = await workspace.prepare(async (builder) => {
      const ids: string[] = []
      for (const { what } of cases) {
        const made = await builder.newLibrary(what)
        for (let n = 0; n < FOLDERS; n++)
          await builder.addFiles(made, at(`/${numbered('folder', n)}`), 1, 'file')
        await builder.catchUp(made)
        ids.push(made.info.id)
      }
      return ids
    })
    const server = await workspace.serve()
    const rows: Row[] = []
    for (const [index, { what, writers, commits, folders, target }] of cases.entries()) {
      const { result: load, flushesPerSecond } = await withFlushRate(workspace.folder, context.limitMs, () =>
        server.load({
          connections: writers,
          warmUp: { count: context.size(commits / 8, 32) },
          measured: { count: context.size(commits, 100) },
          request: {
            method: 'POST',
            path: `/api/v2.1/repos/${libraries[index]}/file/?p=/folder-{n%${folders}}/added-{n}`,
            form: 'operation=create',
          },
        }),
      )
      const limit = { value: flushesPerSecond, of: 'syncs one by one' }
      rows.push(rateRow(what, load, { limit, target: { atLeast: target } }))
      if (writers === 1) continue
      rows.push(p99Row(what, load, 250))
    }
    return rows
  },
}
