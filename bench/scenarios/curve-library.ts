import type { LibraryId } from '../../src/base/objects/ids.ts'
import { at } from '../../test/support/core.ts'
import { chosenSizes, latency, measureCurve } from '../curve.ts'
import { numbered } from '../library-builder.ts'
import type { Scenario } from '../scenario.ts'

const SIZES = [1000, 10_000, 100_000, 1_000_000, 10_000_000]
const FILES_PER_FOLDER = 1000
const FOLDERS_PER_PART = 100
const FOLDERS_PER_BUILDER = 200

/** How costs grow with the number of files of a library: folders of 1,000 files with names of their own, 100 folders in each part. */
export const curveLibrary: Scenario = {
  name: 'curve-library',
  async run(context) {
    await using workspace = await context.workspace()
    const id = await workspace.prepare(
      async (builder): Promise<LibraryId> => (await builder.newLibrary('Library')).info.id,
    )
    return await measureCurve(context, workspace, {
      title: 'Size of a library',
      of: 'files',
      sizes: chosenSizes(context, SIZES, 1000),
      async grow(size, before) {
        const end = size / FILES_PER_FOLDER
        for (let from = before / FILES_PER_FOLDER; from < end; from += FOLDERS_PER_BUILDER) {
          // Opened anew for each step, so that caches of the builder stay small.
          await workspace.prepare(async (builder) => {
            const library = await builder.openLibrary(id)
            for (let n = from; n < Math.min(end, from + FOLDERS_PER_BUILDER); n += 1)
              await builder.addFiles(library, at(folderPath(n)), FILES_PER_FOLDER, 'file', {
                first: n * FILES_PER_FOLDER,
              })
            await builder.catchUp(library)
          })
        }
        await workspace.prepare(async (builder) => builder.settle(await builder.openLibrary(id)))
      },
      async measure(server, size) {
        const common = {
          connections: 1,
          warmUp: { count: context.size(20, 1) },
          measured: { count: context.size(100, 3) },
        }
        const get = (path: string) => server.load({ ...common, request: { method: 'GET', path } })
        const v21 = `/api/v2.1/repos/${id}`
        const last = folderPath(size / FILES_PER_FOLDER - 1)
        const inLast = `file-{n%${FILES_PER_FOLDER}+${size - FILES_PER_FOLDER}}`
        return [
          latency('details of a file', await get(`/api2/repos/${id}/file/detail/?p=${last}/${inLast}`)),
          latency('list 1,000 entries', await get(`${v21}/dir/?p=${last}`)),
          latency(
            'add a file',
            await server.load({
              ...common,
              request: {
                method: 'POST',
                path: `${v21}/file/?p=${folderPath(0)}/added-${size}-{n}`,
                form: 'operation=create',
              },
            }),
          ),
          latency('search for a name', await get(`/api2/search/?q={n*7919%${size}}&search_repo=${id}`)),
          latency('search everywhere', await get(`/api2/search/?q={n*7907%${size}}`)),
        ]
      },
    })
  },
}

const folderPath = (n: number) =>
  `/${numbered('part', Math.floor(n / FOLDERS_PER_PART))}/${numbered('folder', n)}`
