import type { Measured } from '../http-target.ts'
import type { Nginx } from '../limits/nginx.ts'
import type { LoadResult } from '../load/plan.ts'
import { LongBodies, PIECE_BYTES } from '../load/stream-body.ts'
import type { StreamResult } from '../load/stream-plan.ts'
import { longUpload } from '../long-upload.ts'
import type { MeasuredServer, Used } from '../measured-server.ts'
import { median } from '../median.ts'
import { RemoteServer } from '../remote-server.ts'
import { type Row, rateRow } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { sizeText } from '../size-text.ts'
import {
  contentSha1,
  downloadPath,
  expectContent,
  fileName,
  fill,
  randomContent,
  uploadPath,
} from '../transfers.ts'

const MIB = 2 ** 20
const ROUNDS = 5
const SMALL_CLIENTS = 32
const SMALL_BYTES = 1000
const RANGE_CLIENTS = 16
const RANGE_BYTES = 64 * 1024
/** Positions have eight digits, like request numbers. */
const RANGED_BYTES = 64 * MIB

/** Downloads by link: large, small and ranges, compared with nginx for the same bytes. */
export const downloads: Scenario = {
  name: 'downloads',
  async run(context) {
    await using workspace = await context.workspace()
    await using nginx = await context.nginx()
    return await all(context, await workspace.serve(), nginx)
  },
  async runAt(context, target) {
    await using server = new RemoteServer(target)
    return await all(context, server, undefined)
  },
}

async function all(context: Context, server: MeasuredServer, nginx: Nginx | undefined): Promise<Row[]> {
  return [
    ...(await long(context, server, nginx)),
    ...(await small(context, server, nginx)),
    ...(await ranges(context, server, nginx)),
  ]
}

async function long(context: Context, server: MeasuredServer, nginx: Nginx | undefined): Promise<Row[]> {
  const bytes = context.size(1024, 20) * MIB
  const { library, file, sha1 } = await storeLong(server, nginx, bytes)
  const path = await downloadPath(server, library, file)
  const reads: Used<StreamResult>[] = []
  const gets: Measured<StreamResult>[] = []
  for (let round = 0; round < context.size(ROUNDS, 2); round++) {
    reads.push(await server.download([path]))
    if (nginx !== undefined) gets.push(await nginx.download(['/file']))
  }
  for (const { responseBytes } of [...reads, ...gets]) {
    if (responseBytes[0] !== bytes) throw new Error(`a download of ${bytes} bytes had ${responseBytes[0]}`)
  }
  await expectContent(server, library, file, sha1)
  const rateOf = ({ seconds }: StreamResult) => bytes / seconds / 1e6
  const row = (what: string, read: Used<StreamResult>): Row => {
    const { usage } = read
    return { what, value: rateOf(read), unit: 'MB/s', ...(usage && { usage }) }
  }
  const [first, ...others] = reads
  if (first === undefined) throw new Error('nothing was read')
  const rows = [
    row(`download of ${sizeText(bytes)}, the first`, first),
    row('the same again', median(others, rateOf)),
  ]
  if (gets.length === 0) return rows
  const get = median(gets, rateOf)
  const about = {
    limit: { value: rateOf(get), of: 'nginx GET' },
    target: { atLeast: 0.4 * rateOf(get) },
  }
  return [
    ...rows.map((one) => ({ ...one, ...about })),
    { ...row(`nginx: download of ${sizeText(bytes)}`, get), bare: true },
  ]
}

async function small(context: Context, server: MeasuredServer, nginx: Nginx | undefined): Promise<Row[]> {
  const library = await server.client.createLibrary('Small files')
  const contents = Array.from({ length: SMALL_CLIENTS }, (_, k) => randomContent(SMALL_BYTES, k))
  await fill(server, library, 'folder', contents, 1)
  const files = contents.map((_, k) => `/folder/${fileName(k)}`.replace('{n}', '00000000'))
  for (const [k, file] of files.entries()) {
    await expectContent(server, library, file, contentSha1(contents[k] ?? '', 0))
  }
  const paths = await Promise.all(files.map((file) => downloadPath(server, library, file)))
  await nginx?.add('small', Buffer.alloc(SMALL_BYTES, 1))
  const { measured, warmUp } = context
  const load = { connections: SMALL_CLIENTS, measured, warmUp }
  const request = (path: string) => ({ method: 'GET', path, anonymous: true }) as const
  const result = await server.load({ ...load, request: paths.map(request) })
  expectBytes(result, SMALL_BYTES)
  const raw = await nginx?.load({ ...load, request: { method: 'GET', path: '/small' } })
  return besideNginx(`downloads by link of 1 KB, ${SMALL_CLIENTS} clients`, result, 5000, raw)
}

async function ranges(context: Context, server: MeasuredServer, nginx: Nginx | undefined): Promise<Row[]> {
  const { library, file } = await storeLong(server, nginx, RANGED_BYTES)
  const path = await downloadPath(server, library, file)
  await expectRange(server, path)
  const { measured, warmUp } = context
  // Scattered over the file; every range once before any repeats.
  const start = `{n*397%${RANGED_BYTES / RANGE_BYTES}*${RANGE_BYTES}`
  const headers = { Range: `bytes=${start}}-${start}+${RANGE_BYTES - 1}}` }
  const load = { connections: RANGE_CLIENTS, measured, warmUp, status: 206 }
  const result = await server.load({ ...load, request: { method: 'GET', path, headers, anonymous: true } })
  expectBytes(result, RANGE_BYTES)
  const raw = await nginx?.load({ ...load, request: { method: 'GET', path: '/file', headers } })
  return besideNginx(`downloads of 64 KiB ranges, ${RANGE_CLIENTS} clients`, result, 4000, raw)
}

/** A large file in its own library, verified, and as `file` in nginx. */
async function storeLong(server: MeasuredServer, nginx: Nginx | undefined, bytes: number) {
  const library = await server.client.createLibrary(`File of ${bytes}`)
  await server.upload([longUpload(await uploadPath(server, library), 0, bytes)])
  const sha1 = new LongBodies().sha1(0, bytes)
  await nginx?.clear()
  await nginx?.upload([{ method: 'PUT', path: '/file', body: 0, bytes }], 201)
  await nginx?.flush('file')
  return { library, file: '/file-0', sha1 }
}

/** Throws unless a range has the bytes that were uploaded there. */
async function expectRange(server: MeasuredServer, path: string): Promise<void> {
  const piece = 5
  const expected = Buffer.alloc(PIECE_BYTES)
  new LongBodies().fill(expected, 0, piece)
  const start = piece * PIECE_BYTES + RANGE_BYTES
  const headers = { Range: `bytes=${start}-${start + RANGE_BYTES - 1}` }
  const response = await fetch(server.client.url + path, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.status === 206 && bytes.equals(expected.subarray(RANGE_BYTES, 2 * RANGE_BYTES))) return
  throw new Error(`a range was answered with ${response.status} and ${bytes.length} wrong bytes`)
}

function expectBytes({ bytesPerResponse }: LoadResult, bytes: number): void {
  if (bytesPerResponse !== bytes)
    throw new Error(`responses had ${bytesPerResponse} bytes instead of ${bytes}`)
}

function besideNginx(
  what: string,
  load: Used<LoadResult>,
  atLeast: number,
  raw: Measured<LoadResult> | undefined,
): Row[] {
  const target = { atLeast }
  if (raw === undefined) return [rateRow(what, load, { target })]
  const limit = { value: raw.perSecond, of: 'nginx GET' }
  return [rateRow(what, load, { limit, target }), rateRow(`nginx: ${what}`, raw, { bare: true })]
}
