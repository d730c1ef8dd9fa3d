import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { carrelProcess } from '../../test/support/command.ts'
import { ADMIN } from '../../test/support/server.ts'
import type { BenchServer } from '../bench-server.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { expectFiles, randomContent, uploadPath, uploadRequest } from '../transfers.ts'

const KIB_4 = 4096
const FILES_PER_REQUEST = 100
const FILES_PER_FOLDER = 100
const CLIENTS = 4

const run = promisify(execFile)

/**
 * `carrel cp` of many small files, next to the load generator that sends as many through the API, and to rclone, which sends and receives them over WebDAV as the
 * docs recommend it.
 */
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
    return [...rows, ...(await besideRclone(server, workspace.folder, count))]
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
  const seconds = await secondsOf(() => carrelCp(server, folder, `${library}:`))
  await expectFiles(server, library, count)
  return seconds
}

/** A tree of folders with 100 files each, sent and received by both programs. Without rclone there are no rows. */
async function besideRclone(server: BenchServer, folder: string, count: number): Promise<Row[]> {
  const rclone = findProgram('rclone')
  if (rclone === undefined) return []
  const tree = path.join(folder, 'tree-to-copy')
  for (let at = 0; at < count; at += 1) {
    const below = path.join(tree, `${Math.floor(at / FILES_PER_FOLDER)}`)
    if (at % FILES_PER_FOLDER === 0) await mkdir(below, { recursive: true })
    await writeFile(path.join(below, `${at}`), randomBytes(KIB_4))
  }
  const { stdout: password } = await run(rclone, ['obscure', ADMIN.password])
  const env = {
    ...process.env,
    RCLONE_CONFIG: path.join(folder, 'no-rclone.conf'),
    RCLONE_CONFIG_SERVER_TYPE: 'webdav',
    RCLONE_CONFIG_SERVER_VENDOR: 'owncloud',
    RCLONE_CONFIG_SERVER_URL: `${server.client.url}/dav/`,
    RCLONE_CONFIG_SERVER_USER: ADMIN.email,
    RCLONE_CONFIG_SERVER_PASS: password.trim(),
  }
  const library = await server.client.createLibrary('by both')
  const local = (name: string) => path.join(folder, name)
  const times = {
    upload: {
      carrel: await secondsOf(() => carrelCp(server, `${tree}/.`, `${library}:/carrel/`)),
      rclone: await secondsOf(() => run(rclone, ['copy', tree, 'server:by both/rclone'], { env })),
    },
    download: {
      carrel: await secondsOf(() => carrelCp(server, `${library}:/carrel`, local('carrel'))),
      rclone: await secondsOf(() => run(rclone, ['copy', 'server:by both/rclone', local('rclone')], { env })),
    },
  }
  for (const name of ['carrel', 'rclone']) {
    const entries = await readdir(local(name), { recursive: true, withFileTypes: true })
    const found = entries.filter((entry) => entry.isFile()).length
    if (found !== count) throw new Error(`${name} received ${found} of ${count} files.`)
  }
  const what = `of ${count} files of 4 KiB in folders of ${FILES_PER_FOLDER}`
  return Object.entries(times).map(([direction, { carrel, rclone: other }]) => ({
    what: `carrel cp -r, ${direction} ${what}`,
    value: count / carrel,
    unit: 'files/s',
    target: { atLeast: count / other },
    others: [{ value: count / other, of: 'rclone over WebDAV' }],
  }))
}

async function carrelCp(
  { client: { url, token = '' } }: BenchServer,
  from: string,
  to: string,
): Promise<void> {
  const { code, stderr } = await carrelProcess(['cp', '-r', '-q', from, to], {
    env: { CARREL_CLIENT_URL: url, CARREL_CLIENT_TOKEN: token },
  })
  if (code !== 0) throw new Error(`carrel cp ended with ${code}: ${stderr}`)
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}
