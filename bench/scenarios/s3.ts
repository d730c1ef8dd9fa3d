import { createHash, randomBytes } from 'node:crypto'
import { openBucket } from '../../src/platform/s3/index.ts'
import { type S3Service, s3SkipReason, startS3 } from '../../test/support/s3.ts'
import { CpuShare } from '../cpu-share.ts'
import { LongBodies } from '../load/stream-body.ts'
import { longUpload } from '../long-upload.ts'
import type { Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { sizeText } from '../size-text.ts'
import { downloadPath, expectContent, uploadPath } from '../transfers.ts'

const MIB = 2 ** 20
/** Objects of Ceph up to this size are deleted at once, which its store in memory needs. */
const OBJECT_BYTES = 4 * MIB
const CONCURRENT_OBJECTS = 16
/** Share of the rate of the service. */
const SHARE = 0.7
/** Of a core, for the service. */
const SERVICE_SHARE = 0.6

/** A large file through a server with blocks in S3, against the rate of the service itself and against a server on disk. */
export const s3: Scenario = {
  name: 's3',
  async run(context) {
    const reason = s3SkipReason('ceph')
    if (reason !== undefined) {
      process.stderr.write(`s3 is skipped: ${reason}\n`)
      return []
    }
    // Without a limit, the service would compete with the server for the cores, which one on another machine does not.
    await using limit = CpuShare.create(`carrel-bench-s3-${process.pid}`, SERVICE_SHARE)
    await using service = await startS3('ceph')
    for (const pid of service.pids) limit?.add(pid)
    const bytes = context.size(1024, 16) * MIB
    const size = sizeText(bytes)
    const raw = await measureService(service, bytes)
    await using onDisk = await context.workspace()
    const disk = await transfer(await onDisk.serve(), bytes)
    await using inS3 = await context.workspace()
    inS3.env['AWS_ACCESS_KEY_ID'] = service.accessKey
    inS3.env['AWS_SECRET_ACCESS_KEY'] = service.secretKey
    inS3.env['CARREL_BLOCKS'] =
      `s3://${service.bucket}/bench?endpoint=${service.endpoint}&region=${service.region}`
    const server = await inS3.serve()
    const { upload, cached, library, sha1 } = await transfer(server, bytes)
    await server.stop()
    // Nothing is cached by a server that caches nothing.
    inS3.env['CARREL_BLOCK_CACHE_MB'] = '0'
    const cold = await inS3.serve()
    const fetched = await cold.download([await downloadPath(cold, library, '/file-0')])
    await expectContent(cold, library, '/file-0', sha1)
    const rate = ({ seconds }: { readonly seconds: number }) => bytes / seconds / 1e6
    const row = (
      what: string,
      result: typeof upload,
      limit: { value: number; of: string },
      share: number,
    ): Row => ({
      what: `${what} of ${size}`,
      value: rate(result),
      unit: 'MB/s',
      usage: result.usage,
      limit,
      target: { atLeast: share * limit.value },
    })
    return [
      row('upload to S3', upload, { value: raw.putRate, of: 'PUT of the service' }, SHARE),
      row('download from S3, not cached', fetched, { value: raw.getRate, of: 'GET of the service' }, SHARE),
      row('download from S3, cached', cached, { value: rate(disk.cached), of: 'blocks on disk' }, 0.9),
      // An upper bound of what the SDK costs: hashing and sockets are in it.
      {
        what: `CPU of the S3 client for an upload of ${size}`,
        value: raw.putCpuMs,
        unit: 'ms',
        limit: { value: upload.usage.cpuSeconds * 1000, of: 'CPU of the server' },
      },
    ]
  },
}

type Server = Awaited<ReturnType<Awaited<ReturnType<Parameters<Scenario['run']>[0]['workspace']>>['serve']>>

async function transfer(server: Server, bytes: number) {
  const library = await server.client.createLibrary('s3')
  const upload = await server.upload([longUpload(await uploadPath(server, library), 0, bytes)])
  const path = await downloadPath(server, library, '/file-0')
  await server.download([path])
  const cached = await server.download([path])
  return { upload, cached, library, sha1: new LongBodies().sha1(0, bytes) }
}

/** PUT and GET of as many bytes in objects of the size of a block, with the client of the server. */
async function measureService(
  { bucket: name, endpoint, region, accessKey, secretKey }: S3Service,
  bytes: number,
) {
  using bucket = await openBucket({
    bucket: name,
    prefix: 'raw/',
    endpoint,
    region,
    pathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  })
  const content = randomBytes(OBJECT_BYTES)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const names = Array.from({ length: bytes / OBJECT_BYTES }, (_, number) => String(number))
  const timed = async (work: (object: string) => Promise<unknown>) => {
    const cpu = process.cpuUsage()
    const began = performance.now()
    const left = names.values()
    const worker = async () => {
      for (const object of left) await work(object)
    }
    await Promise.all(Array.from({ length: CONCURRENT_OBJECTS }, worker))
    const { user, system } = process.cpuUsage(cpu)
    return { rate: bytes / (performance.now() - began) / 1000, cpuMs: (user + system) / 1000 }
  }
  const put = await timed((object) => bucket.put(object, { size: OBJECT_BYTES, sha256, open: () => content }))
  const get = await timed((object) =>
    bucket.get(object, async (chunks) => {
      for await (const _ of chunks);
    }),
  )
  await timed((object) => bucket.remove(object))
  return { putRate: put.rate, getRate: get.rate, putCpuMs: put.cpuMs }
}
