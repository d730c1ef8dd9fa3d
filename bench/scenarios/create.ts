import { besideSyncedWrites } from '../limits/synced-writes.ts'
import { rateRow } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const CLIENTS = 4

/** Empty files and folders made by a few clients in the root of one library, each a commit. */
export const create: Scenario = {
  name: 'create',
  async run(context) {
    await using workspace = await context.workspace()
    const [forFiles, forFolders] = await workspace.prepare(async (maker) => [
      (await maker.newLibrary('Files')).info.id,
      (await maker.newLibrary('Folders')).info.id,
    ])
    const server = await workspace.serve()
    const common = {
      connections: CLIENTS,
      warmUp: { count: context.size(500, 20) },
      measured: { count: context.size(4000, 100) },
    }
    const make = (path: string, operation: string) =>
      besideSyncedWrites(workspace.folder, context.limitMs, () =>
        server.load({ ...common, request: { method: 'POST', path, form: `operation=${operation}` } }),
      )
    const files = await make(`/api/v2.1/repos/${forFiles}/file/?p=/file-{n}`, 'create')
    const folders = await make(`/api/v2.1/repos/${forFolders}/dir/?p=/folder-{n}`, 'mkdir')
    const about = ({ syncsPerSecond }: { syncsPerSecond: number }) => ({
      limit: { value: syncsPerSecond, of: 'syncs one by one' },
      target: { atLeast: 1000 },
    })
    return [
      rateRow(`create file, ${CLIENTS} clients`, files.result, about(files)),
      rateRow(`make folder, ${CLIENTS} clients`, folders.result, about(folders)),
    ]
  },
}
