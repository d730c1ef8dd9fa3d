import type { LibraryId } from '../../src/base/objects/ids.ts'
import { at } from '../../test/support/core.ts'
import { type Cost, chosenSizes, latency, measureCurve } from '../curve.ts'
import type { Scenario } from '../scenario.ts'

const SIZES = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
/** The list of a larger folder is hundreds of megabytes. */
const MOST_LISTED = 100_000
const FOLDER = at('/folder')

/** How costs grow with the number of entries of a folder. */
export const curveFolder: Scenario = {
  name: 'curve-folder',
  async run(context) {
    await using workspace = await context.workspace()
    const id = await workspace.prepare(
      async (builder): Promise<LibraryId> => (await builder.newLibrary('Folder')).info.id,
    )
    return await measureCurve(context, workspace, {
      title: 'Size of a folder',
      of: 'entries',
      sizes: chosenSizes(context, SIZES, 1000),
      grow: (size, before) =>
        workspace.prepare(async (builder) => {
          const library = await builder.openLibrary(id)
          await builder.addFiles(library, FOLDER, size - before, 'file', { first: before })
          await builder.settle(library)
        }),
      async measure(server, size) {
        const common = {
          connections: 1,
          warmUp: { count: context.size(10, 1) },
          measured: { count: context.size(50, 3) },
        }
        const costs: Cost[] = []
        const v21 = `/api/v2.1/repos/${id}`
        if (size <= MOST_LISTED) {
          const listed = await server.load({
            ...common,
            request: { method: 'GET', path: `${v21}/dir/?p=${FOLDER}` },
          })
          costs.push(latency('list all', listed))
        }
        const detail = `/api2/repos/${id}/file/detail/?p=${FOLDER}/file-{n*7919%${size}}`
        costs.push(
          latency(
            'details of a file',
            await server.load({ ...common, request: { method: 'GET', path: detail } }),
          ),
        )
        const file = `${v21}/file/?p=${FOLDER}/added-${size}-{n}`
        const added = await server.load({
          ...common,
          request: { method: 'POST', path: file, form: 'operation=create' },
        })
        const renamed = await server.load({
          ...common,
          request: { method: 'POST', path: file, form: `operation=rename&newname=renamed-${size}-{n}` },
        })
        return [...costs, latency('add a file', added), latency('rename a file', renamed)]
      },
    })
  },
}
