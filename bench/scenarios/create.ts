import { at } from '../../test/support/core.ts'
import { numbered } from '../library-builder.ts'
import { withFlushRate } from '../limits/flush-rate.ts'
import { rateRow } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const CLIENTS = 4
const FOLDERS = 100

/**
 * Empty files and folders created by several clients in one library, one commit each: spread over folders, and all in one
 * growing folder.
 */
export const create: Scenario = {
  name: 'create',
  async run(context) {
    await using workspace = await context.workspace()
    const [forFiles, forFolders, spread] = await workspace.prepare(async (builder) => {
      const made = await builder.newLibrary('Spread')
      for (let n = 0; n < FOLDERS; n++)
        await builder.addFiles(made, at(`/${numbered('folder', n)}`), 1, 'file')
      await builder.catchUp(made)
      const others = [await builder.newLibrary('Files'), await builder.newLibrary('Folders')]
      return [...others, made].map(({ info }) => info.id)
    })
    const server = await workspace.serve()
    const common = {
      connections: CLIENTS,
      warmUp: { count: context.size(500, 20) },
      measured: { count: context.size(4000, 100) },
    }
    const make = (path: string, operation: string) =>
      withFlushRate(workspace.folder, context.limitMs, () =>
        server.load({ ...common, request: { method: 'POST', path, form: `operation=${operation}` } }),
      )
    const inFolders = `/folder-{n%${FOLDERS}}`
    const filesSpread = await make(`/api/v2.1/repos/${spread}/file/?p=${inFolders}/file-{n}`, 'create')
    const foldersSpread = await make(`/api/v2.1/repos/${spread}/dir/?p=${inFolders}/folder-{n}`, 'mkdir')
    const files = await make(`/api/v2.1/repos/${forFiles}/file/?p=/file-{n}`, 'create')
    const folders = await make(`/api/v2.1/repos/${forFolders}/dir/?p=/folder-{n}`, 'mkdir')
    const about = ({ flushesPerSecond }: { flushesPerSecond: number }) => ({
      limit: { value: flushesPerSecond, of: 'syncs one by one' },
      target: { atLeast: 1000 },
    })
    return [
      rateRow(`create file, ${CLIENTS} clients, ${FOLDERS} folders`, filesSpread.result, about(filesSpread)),
      rateRow(
        `make folder, ${CLIENTS} clients, ${FOLDERS} folders`,
        foldersSpread.result,
        about(foldersSpread),
      ),
      rateRow(`create file, ${CLIENTS} clients, one folder`, files.result, about(files)),
      rateRow(`make folder, ${CLIENTS} clients, one folder`, folders.result, about(folders)),
    ]
  },
}
