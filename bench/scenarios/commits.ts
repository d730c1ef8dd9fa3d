import { at } from '../../test/support/core.ts'
import { numbered } from '../library-maker.ts'
import { besideSyncedWrites } from '../limits/synced-writes.ts'
import { p99Row, type Row, rateRow } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const FOLDERS = 100

const cases = [
  { what: 'commits, 1 writer', writers: 1, commits: 2000, folders: FOLDERS, target: 400 },
  { what: 'commits, 32 writers, one folder', writers: 32, commits: 8000, folders: 1, target: 2000 },
  { what: 'commits, 32 writers, 100 folders', writers: 32, commits: 8000, folders: FOLDERS, target: 2000 },
]

/** Durable commits into one library, each adding one empty file and answered on its own. */
export const commits: Scenario = {
  name: 'commits',
  async run(context) {
    await using workspace = await context.workspace()
    const libraries = await workspace.prepare(async (maker) => {
      const ids: string[] = []
      for (const { what } of cases) {
        const made = await maker.newLibrary(what)
        for (let n = 0; n < FOLDERS; n++)
          await maker.addFiles(made, at(`/${numbered('folder', n)}`), 1, 'file')
        await maker.settle(made)
        ids.push(made.info.id)
      }
      return ids
    })
    const server = await workspace.serve()
    const rows: Row[] = []
    for (const [index, { what, writers, commits, folders, target }] of cases.entries()) {
      const { result: load, syncsPerSecond } = await besideSyncedWrites(
        workspace.folder,
        context.limitMs,
        () =>
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
      const limit = { value: syncsPerSecond, of: 'syncs one by one' }
      rows.push(rateRow(what, load, { limit, target: { atLeast: target } }))
      if (writers === 1) continue
      rows.push(p99Row(what, load, 250))
    }
    return rows
  },
}
