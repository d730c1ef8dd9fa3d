import { at } from '../../test/support/core.ts'
import { type LibraryMaker, numbered } from '../library-maker.ts'
import { measureSha1 } from '../limits/sha1.ts'
import { besideSyncedWrites } from '../limits/synced-writes.ts'
import { p50Row, type Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'

/** By how many entries the folder has: what adding one more file to it may take, in milliseconds. */
const targets = new Map([
  [1, 5],
  [1000, 5],
  [10_000, 10],
  [20_000, 15],
])

/** What it costs one client to add one file to a folder that is already so big. */
export const adding: Scenario = {
  name: 'adding',
  async run(context) {
    await using workspace = await context.workspace()
    const warmUp = context.size(20, 2)
    const measured = context.size(200, 10)
    const libraries = await workspace.prepare(async (maker) => {
      const made = []
      for (const [full, target] of targets) {
        const entries = full === 1 ? 1 : context.size(full, full / 100)
        const folders = full === 1 ? warmUp + measured : 1
        made.push({ entries, target, ...(await makeFolders(maker, entries, folders)) })
      }
      return made
    })
    const server = await workspace.serve()
    const rows: Row[] = []
    for (const { entries, target, id, folders, bytes } of libraries) {
      const { result: load, syncsPerSecond } = await besideSyncedWrites(
        workspace.folder,
        context.limitMs,
        () =>
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
          limit: { value: 1000 / syncsPerSecond + hashMs, of: 'SHA-1 and one sync' },
          target: { atMost: target },
        }),
      )
    }
    return rows
  },
}

/** A library of as many folders of that size. A folder of one entry would not stay one under repeated adding. */
async function makeFolders(maker: LibraryMaker, entries: number, folders: number) {
  const library = await maker.newLibrary(`Folders of ${entries}`)
  for (let n = 0; n < folders; n++) {
    await maker.addFiles(library, at(`/${numbered('folder', n)}`), entries, 'file')
  }
  await maker.settle(library)
  const bytes = await maker.encodedBytes(library, at(`/${numbered('folder', 0)}`))
  return { id: library.info.id, folders, bytes }
}
