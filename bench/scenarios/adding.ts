import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { type LibraryBuilder, numbered } from '../library-builder.ts'
import { withFlushRate } from '../limits/flush-rate.ts'
import { measureSha1 } from '../limits/sha1.ts'
import { p50Row, type Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { fill, randomContent } from '../transfers.ts'

/** Target in ms by number of entries of the folder. */
const targets = new Map([
  [1, 5],
  [1000, 5],
  [10_000, 10],
  [20_000, 15],
])

const FILES_PER_UPLOAD = 100

/** Latency of adding one file to a folder of a given size, one client. */
export const adding: Scenario = {
  name: 'adding',
  async run(context) {
    await using workspace = await context.workspace()
    const warmUp = context.size(20, 2)
    const measured = context.size(200, 10)
    const libraries = await workspace.prepare(async (builder) => {
      const made = []
      for (const [full, target] of targets) {
        const entries = full === 1 ? 1 : context.size(full, full / 100)
        const folders = full === 1 ? warmUp + measured : 1
        made.push({ entries, target, ...(await makeFolders(builder, entries, folders)) })
      }
      return made
    })
    const server = await workspace.serve()
    const rows: Row[] = []
    for (const { entries, target, id, folders, bytes } of libraries) {
      const { result: load, flushesPerSecond } = await withFlushRate(workspace.folder, context.limitMs, () =>
        server.load({
          connections: 1,
          warmUp: { count: warmUp },
          measured: { count: measured },
          request: {
            method: 'POST',
            path: `/api/v2.1/repos/${id}/file/?p=/folder-{n%${folders}}/added-{n}`,
            form: 'operation=create',
          },
        }),
      )
      const hashMs = (bytes / measureSha1(context.limitMs)) * 1000
      rows.push(
        p50Row(`add a file to a folder of ${entries.toLocaleString('en-US')}, p50`, load, {
          limit: { value: 1000 / flushesPerSecond + hashMs, of: 'SHA-1 and one sync' },
          target: { atMost: target },
        }),
      )
    }
    rows.push(await afterFilling(context, server))
    return rows
  },
}

/** Files are uploaded until the folder is large, and the next one is added while they are indexed in the background. */
async function afterFilling(context: Context, server: BenchServer): Promise<Row> {
  const library = await server.client.createLibrary('Filled')
  const contents = Array.from({ length: FILES_PER_UPLOAD }, (_, k) => randomContent(32, k))
  const uploads = context.size(200, 2)
  await fill(server, library, 'folder', contents, uploads)
  const load = await server.load({
    connections: 1,
    warmUp: { count: 0 },
    measured: { count: context.size(200, 10) },
    request: {
      method: 'POST',
      path: `/api/v2.1/repos/${library}/file/?p=/folder/added-{n}`,
      form: 'operation=create',
    },
  })
  const entries = (FILES_PER_UPLOAD * uploads).toLocaleString('en-US')
  return p50Row(`add a file to a folder of ${entries} that was just filled, p50`, load, {
    target: { atMost: 15 },
  })
}

/** A library of `folders` folders. A folder of one entry needs several, because adding changes its size. */
async function makeFolders(builder: LibraryBuilder, entries: number, folders: number) {
  const library = await builder.newLibrary(`Folders of ${entries}`)
  for (let n = 0; n < folders; n++) {
    await builder.addFiles(library, at(`/${numbered('folder', n)}`), entries, 'file')
  }
  await builder.catchUp(library)
  const bytes = await builder.encodedBytes(library, at(`/${numbered('folder', 0)}`))
  return { id: library.info.id, folders, bytes }
}
