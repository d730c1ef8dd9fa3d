import type { LibraryId } from '../../src/base/objects/ids.ts'
import { commitRows } from '../../src/libraries/commits/commit-store.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { Tree } from '../../src/libraries/tree/tree.ts'
import { at } from '../../test/support/core.ts'
import { seededRandom } from '../../test/support/random.ts'
import { digits } from '../load/request-template.ts'
import { rateRow } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import type { Workspace } from '../workspace.ts'

const CLIENTS = 8
const VERSIONS_READ = 20
const FOLDER = at('/folder')

/** A long history of a large folder: stored bytes added, and the time to read an old version. */
export const history: Scenario = {
  name: 'history',
  async run(context) {
    await using workspace = await context.workspace()
    const entries = context.size(20_000, 200)
    const commits = context.size(10_000, 100)
    const library = await workspace.prepare(async (builder) => {
      const made = await builder.newLibrary('Long history')
      await builder.addFiles(made, FOLDER, entries, 'file')
      await builder.catchUp(made)
      return made.info.id
    })
    const bytesBefore = await workspace.storedBytes()
    const server = await workspace.serve()
    const load = await server.load({
      connections: CLIENTS,
      warmUp: { count: 0 },
      measured: { count: commits },
      request: {
        method: 'POST',
        path: `/api/v2.1/repos/${library}/file/?p=${FOLDER}/added-{n}`,
        form: 'operation=create',
      },
    })
    // Derived rows count too. This response requires the consumer to catch up.
    const last = `${FOLDER}/added-${digits(commits - 1)}`
    const detail = await server.client.get(`/api2/repos/${library}/file/detail/`, { p: last })
    if (detail.status !== 200) throw new Error(`the last file is not there: ${detail.status} ${detail.text}`)
    await server.stop()
    const bytesAdded = (await workspace.storedBytes()) - bytesBefore
    const readMs = await readOldVersions(workspace, library, entries)
    const into = `${commits.toLocaleString('en-US')} one-file commits into a folder of ${entries.toLocaleString('en-US')}`
    return [
      rateRow(`${into}, ${CLIENTS} clients`, load),
      { what: `bytes added by ${into}`, value: bytesAdded / 1e6, unit: 'MB', target: { atMost: 100 } },
      {
        what: `read of an old version of that folder, nothing cached, p50`,
        value: readMs[Math.floor(readMs.length / 2)] ?? Number.NaN,
        unit: 'ms',
        target: { atMost: 10 },
      },
      { what: 'the same, slowest', value: readMs.at(-1) ?? Number.NaN, unit: 'ms' },
    ]
  },
}

/** Sorted times in ms to read random versions through the core with an empty cache. */
async function readOldVersions(
  workspace: Workspace,
  id: LibraryId,
  entriesAtFirst: number,
): Promise<number[]> {
  const random = seededRandom(1)
  const times: number[] = []
  for (let n = 0; n < VERSIONS_READ; n++) {
    await workspace.prepare(async (builder) => {
      const { info } = await builder.openLibrary(id)
      const { core } = builder.services
      const seq = 2 + Math.floor(random() * (info.headSeq - 1))
      const began = performance.now()
      const [commit] = await commitRows.listDown(dbOf(core), info, seq, seq)
      if (commit === undefined) throw new Error(`commit ${seq} is missing`)
      const { dir } = await new Tree(storesOf(core).objects, info.key, commit.rootId).getDir(FOLDER)
      times.push(performance.now() - began)
      // Commit 1 created the library, 2 filled the folder, each later one added a file.
      if (dir.size !== entriesAtFirst + seq - 2) throw new Error(`commit ${seq} lists ${dir.size} entries`)
    })
  }
  return times.sort((a, b) => a - b)
}
