import type { BenchServer } from '../bench-server.ts'
import type { Measured } from '../http-target.ts'
import { measureFlushedStream } from '../limits/flushed-stream.ts'
import type { Nginx } from '../limits/nginx.ts'
import { measureSha1 } from '../limits/sha1.ts'
import { LongBodies } from '../load/stream-body.ts'
import type { StreamResult } from '../load/stream-plan.ts'
import { longUpload } from '../long-upload.ts'
import { median } from '../median.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { sizeText } from '../size-text.ts'
import { expectContent, expectFiles, uploadPath } from '../transfers.ts'
import type { Workspace } from '../workspace.ts'

const MIB = 2 ** 20
const ROUNDS = 3

const cases = [
  { streams: 1, mib: 1024, quickMib: 20 },
  { streams: 8, mib: 256, quickMib: 3 },
]

/** Large uploads, alternating with nginx (no flush) and with plain disk writes (with flushes). */
export const bigUploads: Scenario = {
  name: 'big-uploads',
  async run(context) {
    await using workspace = await context.workspace()
    await using nginx = await context.nginx()
    const server = await workspace.serve()
    const rows: Row[] = []
    const disk: number[] = []
    for (const { streams, mib, quickMib } of cases) {
      const bytes = context.size(mib, quickMib) * MIB
      const size = sizeText(bytes)
      const what = streams === 1 ? `${size}, one stream` : `${streams} × ${size} at once`
      rows.push(...(await measure(context, workspace, server, nginx, { what, streams, bytes }, disk)))
    }
    const diskRate = median(disk, Number)
    const syncedRow = { what: 'synced disk writes, MiB by MiB, a sync every 8', value: diskRate / 1e6 }
    const sha1Row = { what: 'SHA-1, one core', value: measureSha1(context.limitMs) / 1e6 }
    return [...rows, ...[syncedRow, sha1Row].map((row): Row => ({ ...row, unit: 'MB/s', bare: true }))]
  },
}

interface Wanted {
  readonly what: string
  readonly streams: number
  readonly bytes: number
}

async function measure(
  context: Context,
  workspace: Workspace,
  server: BenchServer,
  nginx: Nginx | undefined,
  { what, streams, bytes }: Wanted,
  disk: number[],
): Promise<Row[]> {
  const library = await server.client.createLibrary(what)
  const path = await uploadPath(server, library)
  const rounds = context.size(ROUNDS, 1)
  const puts: Measured<StreamResult>[] = []
  const uploads: Measured<StreamResult>[] = []
  const diskHere: number[] = []
  // Bodies are numbered per library, including the warm-up.
  let body = 0
  await server.upload([longUpload(path, body++, context.size(64, 1) * MIB)])
  for (let round = 0; round < rounds; round++) {
    const bodies = Array.from({ length: streams }, () => body++)
    if (nginx !== undefined) {
      const files = bodies.map((one) => ({ method: 'PUT', path: `/file-${one}`, body: one, bytes }) as const)
      puts.push(await nginx.upload(files, 201))
      await nginx.clear()
    }
    diskHere.push(measureFlushedStream(workspace.folder, bytes * streams))
    uploads.push(await server.upload(bodies.map((one) => longUpload(path, one, bytes))))
  }
  disk.push(...diskHere)
  await expectFiles(server, library, body)
  const last = body - 1
  await expectContent(server, library, `/file-${last}`, new LongBodies().sha1(last, bytes))

  const rateOf = ({ seconds }: StreamResult) => (bytes * streams) / seconds / 1e6
  const diskRate = median(diskHere, Number) / 1e6
  const upload = median(uploads, rateOf)
  const put = puts.length === 0 ? undefined : median(puts, rateOf)
  const ofPut = put === undefined || streams > 1 ? Number.POSITIVE_INFINITY : 0.45 * rateOf(put)
  const row: Row = {
    what: `upload of ${what}`,
    value: rateOf(upload),
    unit: 'MB/s',
    usage: upload.usage,
    limit: { value: diskRate, of: 'synced disk writes' },
    target: { atLeast: Math.min(ofPut, 0.9 * diskRate) },
  }
  if (put === undefined) return [row]
  const { usage } = put
  return [
    { ...row, others: [{ value: rateOf(put), of: 'nginx PUT, unsynced' }] },
    { what: `nginx PUT of ${what}, unsynced`, value: rateOf(put), unit: 'MB/s', usage, bare: true },
  ]
}
