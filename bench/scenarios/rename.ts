import { makeFolder } from '../../src/libraries/edits/entries.ts'
import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { numbered } from '../library-builder.ts'
import { withFlushRate } from '../limits/flush-rate.ts'
import type { Load } from '../measured-server.ts'
import { p50Row, type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import type { Workspace } from '../workspace.ts'

const CLIENTS = 4
const SIZES = [1000, 10_000, 20_000, 100_000, 250_000]

/** Files renamed by several clients, and folders of any size renamed and moved repeatedly by one. */
export const rename: Scenario = {
  name: 'rename',
  async run(context) {
    await using workspace = await context.workspace()
    const renames = { warmUp: context.size(200, 10), measured: context.size(2000, 50) }
    const among = renames.warmUp + renames.measured
    const forFiles = await makeLibrary(workspace, among, 0)
    const folders = { warmUp: context.size(10, 2), measured: context.size(100, 10) }
    const forFolders = []
    for (const full of SIZES) {
      const size = context.size(full, full / 250)
      const library = await makeLibrary(workspace, size, 1 + folders.warmUp + folders.measured)
      forFolders.push({ size, library })
    }

    const server = await workspace.serve()
    const files = await withFlushRate(workspace.folder, context.limitMs, () =>
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
    const limit = { value: files.flushesPerSecond, of: 'syncs one by one' }
    const what = `rename file in a folder of ${among.toLocaleString('en-US')}, ${CLIENTS} clients`
    const rows: Row[] = [rateRow(what, files.result, { limit })]
    const load = { connections: 1, warmUp: { count: folders.warmUp }, measured: { count: folders.measured } }
    for (const { size, library } of forFolders) {
      const holding = `of a folder holding ${size.toLocaleString('en-US')} files, p50`
      const renaming = { ...load, request: renameRequest(library) }
      rows.push(await folderRow(context, workspace, server, `rename ${holding}`, renaming))
    }
    for (const { size, library } of forFolders) {
      const holding = `of a folder holding ${size.toLocaleString('en-US')} files, p50`
      const last = numbered('folder', folders.warmUp + folders.measured)
      await server.client.post('/api/v2.1/repos/sync-batch-move-item/', {
        json: {
          src_repo_id: library,
          src_parent_dir: '/',
          src_dirents: [last],
          dst_repo_id: library,
          dst_parent_dir: '/place-00000000',
        },
      })
      const moving = { ...load, request: moveRequest(library, last) }
      rows.push(await folderRow(context, workspace, server, `move ${holding}`, moving))
    }
    return rows
  },
}

/** A library with one folder of `files` files, and empty folders to move it through. */
function makeLibrary(workspace: Workspace, files: number, places: number): Promise<string> {
  return workspace.prepare(async (builder) => {
    const made = await builder.newLibrary(`Holding ${files}`)
    await builder.addFiles(made, at('/folder-00000000'), files, 'file')
    for (let n = 0; n < places; n++) await makeFolder(made, at(`/${numbered('place', n)}`))
    await builder.catchUp(made)
    return made.info.id
  })
}

function renameRequest(library: string): Load['request'] {
  return {
    method: 'POST',
    path: `/api/v2.1/repos/${library}/dir/?p=/folder-{n}`,
    form: 'operation=rename&newname=folder-{n+1}',
  }
}

/** Moves a folder from one place to the next. */
function moveRequest(library: string, folder: string): Load['request'] {
  const body = JSON.stringify({
    src_repo_id: library,
    src_parent_dir: '/place-{n}',
    src_dirents: [folder],
    dst_repo_id: library,
    dst_parent_dir: '/place-{n+1}',
  })
  return {
    method: 'POST',
    path: '/api/v2.1/repos/sync-batch-move-item/',
    headers: { 'Content-Type': 'application/json' },
    body,
  }
}

async function folderRow(
  context: Context,
  workspace: Workspace,
  server: BenchServer,
  what: string,
  load: Load,
): Promise<Row> {
  const { result, flushesPerSecond } = await withFlushRate(workspace.folder, context.limitMs, () =>
    server.load(load),
  )
  return p50Row(what, result, {
    limit: { value: 1000 / flushesPerSecond, of: 'one sync' },
    target: { atMost: 10 },
  })
}
