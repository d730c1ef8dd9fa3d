import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { carrelProcess } from '../../test/support/command.ts'
import type { BenchServer } from '../bench-server.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { expectFiles, randomContent, uploadPath, uploadRequest } from '../transfers.ts'

const KIB_4 = 4096
const FILES_PER_REQUEST = 100
const CLIENTS = 4

/** `carrel cp` of many small files, next to the load generator that sends as many through the API. */
export const client: Scenario = {
  name: 'client',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    const count = context.size(10_000, 400)
    const folder = path.join(workspace.folder, 'files-to-copy')
    await mkdir(folder)
    for (let at = 0; at < count; at += 1) await writeFile(path.join(folder, `${at}`), randomBytes(KIB_4))
    const byApi = await secondsOfApi(context, server, count)
    const byClient = await secondsOfClient(server, folder, count)
    const what = `carrel cp of ${count} files of 4 KiB`
    const rows: Row[] = [
      { what: `${what}, with its start`, value: count / byClient, unit: 'files/s' },
      {
        what: `${what}, time against the API`,
        value: byClient / byApi,
        unit: 'times',
        target: { atMost: 1.5 },
      },
    ]
    return rows
  },
}

async function secondsOfApi(context: Context, server: BenchServer, count: number): Promise<number> {
  const library = await server.client.createLibrary('by the API')
  const contents = Array.from({ length: FILES_PER_REQUEST }, (_, k) => randomContent(KIB_4, k))
  const load = await server.load({
    connections: CLIENTS,
    warmUp: { count: context.size(20, 1) },
    measured: { count: count / FILES_PER_REQUEST },
    request: uploadRequest({ path: await uploadPath(server, library), contents }),
  })
  return count / (load.perSecond * FILES_PER_REQUEST)
}

async function secondsOfClient(server: BenchServer, folder: string, count: number): Promise<number> {
  const library = await server.client.createLibrary('by the client')
  const { url, token = '' } = server.client
  const startedAt = performance.now()
  const { code, stderr } = await carrelProcess(['cp', '-r', '-q', folder, `${library}:`], {
    env: { CARREL_CLIENT_URL: url, CARREL_CLIENT_TOKEN: token },
  })
  if (code !== 0) throw new Error(`carrel cp ended with ${code}: ${stderr}`)
  const seconds = (performance.now() - startedAt) / 1000
  await expectFiles(server, library, count)
  return seconds
}
