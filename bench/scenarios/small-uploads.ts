import { withFlushRate } from '../limits/flush-rate.ts'
import type { Nginx } from '../limits/nginx.ts'
import { withNumber } from '../load/request-template.ts'
import type { MeasuredServer } from '../measured-server.ts'
import { RemoteServer } from '../remote-server.ts'
import { p99Row, type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import {
  contentSha1,
  expectContent,
  expectFiles,
  fileName,
  randomContent,
  uploadPath,
  uploadRequest,
} from '../transfers.ts'

const KIB_4 = 4096
const NGINX_PUT = 'nginx PUT, unsynced'

interface Case {
  readonly what: string
  readonly clients: number
  readonly folders: number
  readonly requests: number
  readonly files: number
  /** Files per second. */
  readonly target: number
  readonly p99?: number
}

const cases: readonly Case[] = [
  { what: '4 KiB uploads, 1 client', clients: 1, folders: 1, requests: 2000, files: 1, target: 400 },
  {
    what: '4 KiB uploads, 32 clients, one folder',
    clients: 32,
    folders: 1,
    requests: 8000,
    files: 1,
    target: 2000,
    p99: 250,
  },
  {
    what: '4 KiB uploads, 32 clients, 100 folders',
    clients: 32,
    folders: 100,
    requests: 8000,
    files: 1,
    target: 2000,
  },
  {
    what: '100 files of 4 KiB a request, 4 clients',
    clients: 4,
    folders: 1,
    requests: 200,
    files: 100,
    target: 5000,
  },
  {
    what: '50 writers × 20 files of 4 KiB, one library',
    clients: 50,
    folders: 50,
    requests: 1000,
    files: 1,
    target: 1500,
    p99: 400,
  },
]

/** Durable uploads of small files through one link, each acknowledged by itself. */
export const smallUploads: Scenario = {
  name: 'small-uploads',
  async run(context) {
    await using workspace = await context.workspace()
    await using nginx = await context.nginx()
    const server = await workspace.serve()
    const rows: { readonly clients: number; readonly row: Row }[] = []
    for (const one of cases) {
      const flushing = <T>(work: () => Promise<T>) => withFlushRate(workspace.folder, context.limitMs, work)
      for (const row of await upload(context, server, one, flushing)) rows.push({ clients: one.clients, row })
    }
    if (nginx === undefined) return rows.map(({ row }) => row)
    const puts = new Map<number, Row>()
    for (const { clients } of cases) {
      if (!puts.has(clients)) puts.set(clients, await put(context, nginx, clients))
    }
    const others = (clients: number) => [{ value: puts.get(clients)?.value ?? Number.NaN, of: NGINX_PUT }]
    return [
      ...rows.map(({ clients, row }) => (row.unit === 'ms' ? row : { ...row, others: others(clients) })),
      ...puts.values(),
    ]
  },
  async runAt(context, target) {
    await using server = new RemoteServer(target)
    const rows: Row[] = []
    for (const one of cases)
      rows.push(...(await upload(context, server, one, async (work) => ({ result: await work() }))))
    return rows
  },
}

/** Measures the raw limit of the disk beside the work. */
type Flushing = <T>(work: () => Promise<T>) => Promise<{ result: T; flushesPerSecond?: number }>

async function upload(context: Context, server: MeasuredServer, one: Case, flushing: Flushing) {
  const { what, clients, folders, files, target, p99 } = one
  const library = await server.client.createLibrary(what)
  const path = await uploadPath(server, library)
  const contents = Array.from({ length: files }, (_, k) => randomContent(KIB_4, k))
  const folder = `folder-{n%${folders}}`
  const requests = context.size(one.requests, Math.ceil(one.requests / 100))
  const { result: load, flushesPerSecond } = await flushing(() =>
    server.load({
      connections: clients,
      warmUp: { count: Math.ceil(requests / 8) },
      measured: { count: requests },
      request: uploadRequest({ path, folder, contents }),
    }),
  )
  await expectFiles(server, library, load.sent * files)
  for (const n of [0, load.sent - 1]) {
    const file = withNumber(`/${folder}/${fileName(files - 1)}`, n)
    await expectContent(server, library, file, contentSha1(contents.at(-1) ?? '', n))
  }
  const about = {
    ...(flushesPerSecond !== undefined && { limit: { value: flushesPerSecond, of: 'syncs one by one' } }),
    target: { atLeast: target },
  }
  const row: Row = { ...rateRow(what, load, about), value: load.perSecond * files, unit: 'files/s' }
  return p99 === undefined ? [row] : [row, p99Row(what, load, p99)]
}

/** nginx without flushes, one file per request. */
async function put(context: Context, nginx: Nginx, clients: number): Promise<Row> {
  await nginx.clear()
  const load = await nginx.load({
    connections: clients,
    warmUp: { count: context.size(1000, 50) },
    measured: { count: context.size(16_000, 100) },
    request: { method: 'PUT', path: '/file-{n}', body: randomContent(KIB_4) },
    status: 201,
  })
  const what = `nginx PUT of 4 KiB, unsynced, ${clients} client${clients === 1 ? '' : 's'}`
  return { ...rateRow(what, load, { bare: true }), unit: 'files/s' }
}
