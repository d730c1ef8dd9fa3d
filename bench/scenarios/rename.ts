import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { besideSyncedWrites } from '../limits/synced-writes.ts'
import { p50Row, type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import type { Workspace } from '../workspace.ts'

const CLIENTS = 4

/** Files renamed by a few clients, and folders renamed over and over by one, whatever they hold. */
export const rename: Scenario = {
  name: 'rename',
  async run(context) {
    await using workspace = await context.workspace()
    const renames = { warmUp: context.size(200, 10), measured: context.size(2000, 50) }
    const among = renames.warmUp + renames.measured
    const sizes = [context.size(20_000, 200), context.size(250_000, 400)]
    const forFiles = await makeLibrary(workspace, among)
    const forFolders = []
    for (const size of sizes) forFolders.push({ size, library: await makeLibrary(workspace, size) })

    const server = await workspace.serve()
    const files = await besideSyncedWrites(workspace.folder, context.limitMs, () =>
      server.load({
        connections: CLIENTS,
        warmUp: { count: renames.warmUp },
        measured: { count: renames.measured },
        request: {
          method: 'POST',
          path: `/api/v2.1/repos/${forFiles}/file/?p=/folder-00000000/file-{n}`,
          form: 'operation=rename&newname=renamed-{n}',
        },
      }),
    )
    const limit = { value: files.syncsPerSecond, of: 'syncs one by one' }
    const what = `rename file in a folder of ${among.toLocaleString('en-US')}, ${CLIENTS} clients`
    const rows: Row[] = [rateRow(what, files.result, { limit })]
    for (const { size, library } of forFolders) {
      rows.push(await renameFolder(context, workspace, server, library, size))
    }
    return rows
  },
}

/** A library with one folder of that many files. */
function makeLibrary(workspace: Workspace, files: number): Promise<string> {
  return workspace.prepare(async (maker) => {
    const made = await maker.newLibrary(`Holding ${files}`)
    await maker.addFiles(made, at('/folder-00000000'), files, 'file')
    await maker.settle(made)
    return made.info.id
  })
}

async function renameFolder(
  context: Context,
  workspace: Workspace,
  server: BenchServer,
  library: string,
  size: number,
): Promise<Row> {
  const { result, syncsPerSecond } = await besideSyncedWrites(workspace.folder, context.limitMs, () =>
    server.load({
      connections: 1,
      warmUp: { count: context.size(10, 2) },
      measured: { count: context.size(100, 10) },
      request: {
        method: 'POST',
        path: `/api/v2.1/repos/${library}/dir/?p=/folder-{n}`,
        form: 'operation=rename&newname=folder-{n+1}',
      },
    }),
  )
  return p50Row(`rename of a folder holding ${size.toLocaleString('en-US')} files, p50`, result, {
    limit: { value: 1000 / syncsPerSecond, of: 'one sync' },
    target: { atMost: 10 },
  })
}
