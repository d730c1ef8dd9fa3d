import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from '../../bin/system-programs.ts'
import { SeafClient } from '../../test/support/seaf-client.ts'
import { ADMIN } from '../../test/support/server.ts'
import { SyncClient, sha1 } from '../../test/support/sync-client.ts'
import type { BenchServer } from '../bench-server.ts'
import { withFlushRate } from '../limits/flush-rate.ts'
import { BODY_SHA1 } from '../load/request-template.ts'
import { type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { sizeText } from '../size-text.ts'
import { randomContent } from '../transfers.ts'
import type { Workspace } from '../workspace.ts'

const KIB_4 = 4096
const MIB = 2 ** 20
const CLIENT_DEADLINE_MS = 1_800_000

/** Blocks sent and fetched one by one, as sync clients do. */
export const syncBlocks: Scenario = {
  name: 'sync-blocks',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    return [
      ...(await blocks(context, workspace, server, {
        size: '4 KiB',
        bytes: KIB_4,
        clients: 32,
        put: 6000,
        get: 10_000,
      })),
      ...(await blocks(context, workspace, server, { size: '1 MiB', bytes: MIB, clients: 8, get: 1431 })),
    ]
  },
}

/** Real sync clients under load, if `seaf-cli` is on the `PATH`. */
export const syncClients: Scenario = {
  name: 'sync-clients',
  async run(context) {
    const program = findProgram('seaf-cli')
    if (program === undefined) return []
    await using workspace = await context.workspace()
    return await realClient(context, workspace, await workspace.serve(), program)
  },
}

interface BlockCase {
  readonly size: string
  readonly bytes: number
  readonly clients: number
  /** Target in requests per second. */
  readonly put?: number
  readonly get: number
}

async function blocks(
  context: Context,
  workspace: Workspace,
  server: BenchServer,
  { size, bytes, clients, put, get }: BlockCase,
): Promise<Row[]> {
  const library = await server.client.createLibrary(`Blocks of ${size}`)
  const linked = await SyncClient.link(server.client, library)
  const base = `/seafhttp/repo/${library}/block`
  const headers = { 'Seafile-Repo-Token': linked.token }
  const isSmall = bytes < MIB
  const content = randomContent(bytes)
  const count = isSmall ? context.size(40_000, 200) : context.size(1500, 20)
  const request = {
    method: 'PUT',
    path: `${base}/${BODY_SHA1}`,
    headers,
    body: content,
    anonymous: true,
  } as const
  const { result: puts, flushesPerSecond } = await withFlushRate(workspace.folder, context.limitMs, () =>
    server.load({
      connections: clients,
      warmUp: { count: Math.ceil(count / 8) },
      measured: { count },
      request,
    }),
  )
  const ids: string[] = []
  for (let n = 0; n < clients; n++) {
    const block = randomBytes(bytes)
    const reply = await linked.call('PUT', `block/${sha1(block)}`, block)
    if (reply.status !== 200) throw new Error(`a block was answered with ${reply.status}`)
    ids.push(sha1(block))
  }
  const gets = await server.load({
    connections: clients,
    warmUp: context.warmUp,
    measured: context.measured,
    request: ids.map((id) => ({ method: 'GET', path: `${base}/${id}`, headers, anonymous: true }) as const),
  })
  const scattered = isSmall
    ? await server.load({
        connections: clients,
        warmUp: context.warmUp,
        measured: context.measured,
        // One after another of those that were sent: more than the cache has room for.
        hashed: content.replace('{n}', `{n%${puts.sent}}`),
        request: { method: 'GET', path: `${base}/${BODY_SHA1}`, headers, anonymous: true },
      })
    : undefined
  const about = {
    limit: { value: flushesPerSecond, of: 'syncs one by one' },
    ...(put !== undefined && { target: { atLeast: put } }),
  }
  return [
    rateRow(`PUT of blocks of ${size}, ${clients} clients`, puts, about),
    rateRow(`GET of blocks of ${size}, ${clients} clients`, gets, { target: { atLeast: get } }),
    ...(scattered
      ? [rateRow(`GET of blocks of ${size}, not recently used, ${clients} clients`, scattered)]
      : []),
  ]
}

/** Waiting times of a user: upload of a folder, download, and one change in a large library. */
async function realClient(
  context: Context,
  workspace: Workspace,
  server: BenchServer,
  program: string,
): Promise<Row[]> {
  const at = { url: server.client.url, ...ADMIN }
  await using up = await SeafClient.start(program, path.join(workspace.folder, 'up'), at)
  await using down = await SeafClient.start(program, path.join(workspace.folder, 'down'), at)
  const rows: Row[] = []
  const cases = [
    { what: 'small files', files: context.size(10_000, 100), bytes: 1000 },
    { what: 'a large file', files: 1, bytes: context.size(1024, 8) * MIB },
  ]
  for (const { what, files, bytes } of cases) {
    const library = await up.create(what)
    const [from, to] = [
      path.join(workspace.folder, `from ${what}`),
      path.join(workspace.folder, `to ${what}`),
    ]
    await fillFolder(from, files, bytes)
    await mkdir(to)
    const name = files > 1 ? `${files} files of ${bytes} bytes` : `a file of ${sizeText(bytes)}`
    const fileCount = async () =>
      (await server.client.get(`/api2/repos/${library}/`)).body.file_count as number
    const upMs = await timed(
      () => up.join(library, from),
      async () => (await fileCount()) === files,
    )
    rows.push({ what: `${name}, first upload by a client`, value: upMs, unit: 'ms' })
    const downMs = await timed(
      () => down.join(library, to),
      async () => (await filesIn(to)) === files,
    )
    rows.push({ what: `${name}, first download by a client`, value: downMs, unit: 'ms' })
  }
  return [...rows, ...(await oneChange(context, server))]
}

/** Server cost of a push that changes one file of many, spread over folders. */
async function oneChange(context: Context, server: BenchServer): Promise<Row[]> {
  const library = await server.client.createLibrary('Many files')
  const linked = await SyncClient.link(server.client, library)
  const folders = context.size(100, 2)
  const spec: Record<string, Record<string, string>> = {}
  for (let n = 0; n < folders; n++) {
    const folder: Record<string, string> = {}
    for (let k = 0; k < 1000; k++) folder[`file ${k}`] = ''
    spec[`folder ${n}`] = folder
  }
  await linked.push(spec)
  const times: number[] = []
  for (let n = 0; n < context.size(20, 2); n++) {
    const folder = `folder ${n % folders}`
    spec[folder] = { ...spec[folder], [`new ${n}`]: `${n}` }
    const id = await linked.send(spec, await linked.head())
    const began = performance.now()
    const reply = await linked.putHead(id)
    times.push(performance.now() - began)
    if (reply.status !== 200) throw new Error(`a push was answered with ${reply.status}`)
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1] ?? 0
  return [{ what: `push of one file into ${folders * 1000}, head moved after`, value: median, unit: 'ms' }]
}

async function fillFolder(folder: string, files: number, bytes: number): Promise<void> {
  for (let n = 0; n < files; n++) {
    const below = path.join(folder, `folder ${Math.floor(n / 100)}`)
    if (n % 100 === 0) await mkdir(below, { recursive: true })
    await writeFile(path.join(below, `file ${n}`), randomBytes(bytes))
  }
}

async function filesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('seafile-data')).length
}

async function timed(begin: () => Promise<void>, isDone: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  await begin()
  while (!(await isDone())) {
    if (performance.now() - began > CLIENT_DEADLINE_MS) throw new Error('the client did not come to an end')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return performance.now() - began
}
