import assert from 'node:assert/strict'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { it } from 'node:test'
import { S3Target } from '../../src/maintenance/backup/s3-target.ts'
import { ClockShim } from '../support/clock-shim.ts'
import { carrel } from '../support/command.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { temporaryFolder } from './support.ts'

// A stand-in for an S3 service that checks signatures as documented in "Signature Calculations for the Authorization Header". With
// CARREL_TEST_S3=http://key:secret@host:port/bucket the same tests run on a real one.

const KEY = { accessKey: 'AKIDEXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const KEYS_PER_PAGE = 3

interface Service extends AsyncDisposable {
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

/** `answering` may delay the answer to a request, before it has an effect. */
async function openService(
  answering: (method: string | undefined, key: string) => Promise<void> = async () => {},
): Promise<Service> {
  const real = process.env['CARREL_TEST_S3']
  if (real !== undefined) {
    const url = new URL(real)
    return {
      endpoint: url.origin,
      bucket: url.pathname.slice(1),
      accessKey: decodeURIComponent(url.username),
      secretKey: decodeURIComponent(url.password),
      async [Symbol.asyncDispose]() {},
    }
  }
  const objects = new Map<string, Buffer>()
  // oxlint-disable-next-line typescript/no-misused-promises -- a failure fails the request of the test
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const url = new URL(request.url ?? '', 'http://s3')
    const reply = (status: number, bytes: Uint8Array | string = '') => response.writeHead(status).end(bytes)
    if (!isSigned(request, url, body)) return reply(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>')
    const [, bucket, ...parts] = url.pathname.split('/').map(decodeURIComponent)
    if (bucket !== 'bucket') return reply(404, '<Error><Code>NoSuchBucket</Code></Error>')
    const key = parts.join('/')
    await answering(request.method, key)
    if (key === '') return reply(200, listing(objects, url.searchParams))
    if (request.method === 'PUT') objects.set(key, body)
    if (request.method === 'PUT') return reply(200)
    if (request.method === 'DELETE') return reply(objects.delete(key) ? 204 : 204)
    const found = objects.get(key)
    if (found === undefined) return reply(404, '<Error><Code>NoSuchKey</Code></Error>')
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    return start === undefined
      ? reply(200, found)
      : reply(206, found.subarray(Number(start), Number(end) + 1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...KEY,
    bucket: 'bucket',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): string {
  const after = query.get('continuation-token') ?? ''
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
    .sort()
  const page = keys.slice(0, KEYS_PER_PAGE)
  const contents = page.map(
    (key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length}</Size></Contents>`,
  )
  const next =
    keys.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}${next}</ListBucketResult>`
}

function isSigned(request: IncomingMessage, url: URL, body: Buffer): boolean {
  const [, id, day, region, signed = '', signature] =
    /Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)/.exec(
      request.headers.authorization ?? '',
    ) ?? []
  if (id !== KEY.accessKey) return false
  const hash = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
  const stated = String(request.headers['x-amz-content-sha256'])
  if (stated !== 'UNSIGNED-PAYLOAD' && stated !== hash(body)) return false
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
  const headers = signed.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = [request.method, url.pathname, query.join('&'), headers.join(''), signed, stated].join(
    '\n',
  )
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, hash(canonical)].join('\n')
  const sign = (key: Buffer | string, message: string) => createHmac('sha256', key).update(message).digest()
  const key = [String(day), String(region), 's3', 'aws4_request'].reduce<Buffer | string>(
    sign,
    `AWS4${KEY.secretKey}`,
  )
  return sign(key, text).toString('hex') === signature
}

it('an S3 target stores, lists, reads and removes objects, and explains failures', async () => {
  await using service = await openService()
  const settings = { region: 'us-east-1', ...service }
  const prefix = `run-${randomBytes(4).toString('hex')}`
  const target = await S3Target.open(`s3://${service.bucket}/${prefix}`, settings)
  const bytes = randomBytes(100_000)
  const names = Array.from({ length: 8 }, (_, number) => `packs/ab/object ${number} +&=ü`)
  for (const name of names) await target.put(name, bytes)
  const listed: string[] = []
  for await (const { name, size } of target.list('packs/')) {
    listed.push(name)
    assert.equal(size, bytes.length)
  }
  if (process.env['CARREL_TEST_S3'] === undefined) {
    assert.deepEqual(listed.length, names.length)
  } else assert.deepEqual(listed.sort(), [...names].sort())
  assert.deepEqual(await target.get(names[3] ?? ''), bytes)
  assert.deepEqual(await target.get(names[3] ?? '', { start: 1000, length: 77 }), bytes.subarray(1000, 1077))
  for (const name of names) await target.remove(name)
  await target.remove(names[0] ?? '')
  await assert.rejects(target.get(names[0] ?? ''), /is missing in s3:\/\//)
  const wrong = await S3Target.open(`s3://${service.bucket}/${prefix}`, { ...settings, secretKey: 'wrong' })
  await assert.rejects(
    wrong.put('a', bytes),
    /cannot be used \(403 SignatureDoesNotMatch\).*the AWS credentials/,
  )
  await assert.rejects(
    S3Target.open('s3://bucket', { ...settings, accessKey: undefined }),
    /CARREL_BACKUP_S3_ACCESS_KEY/,
  )
})

it('the address of an S3 target names the service, the encryption and a profile of the AWS credentials', async () => {
  await using service = await openService()
  await using folder = await temporaryFolder()
  const file = path.join(folder.path, 'credentials')
  await writeFile(
    file,
    `[backups]\naws_access_key_id = ${service.accessKey}\naws_secret_access_key = ${service.secretKey}\n`,
  )
  process.env['AWS_SHARED_CREDENTIALS_FILE'] = file
  try {
    const former = { endpoint: undefined, region: undefined, accessKey: 'x', secretKey: 'y' }
    const address = `s3://${service.bucket}/profile?endpoint=${service.endpoint}&profile=backups`
    const target = await S3Target.open(address, former)
    assert.equal(target.place, `s3://${service.bucket}/profile`)
    await target.put('a', Buffer.from('bytes'))
    assert.deepEqual(await target.get('a'), Buffer.from('bytes'))
    await target.remove('a')
  } finally {
    delete process.env['AWS_SHARED_CREDENTIALS_FILE']
  }
  await assert.rejects(
    S3Target.open('s3://bucket?secret=x', { ...KEY, endpoint: undefined, region: undefined }),
    /names no bucket/,
  )
})

it('an S3 target sends the session token and asks for server-side encryption', async () => {
  const seen: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    request.resume().once('end', () => response.writeHead(200).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const target = await S3Target.open('s3://bucket/x', {
      ...KEY,
      endpoint,
      region: 'us-east-1',
      sessionToken: 'session',
      encryption: { algorithm: 'aws:kms', keyId: 'key' },
    })
    await target.put('a', Buffer.from('bytes'))
  } finally {
    server.closeAllConnections()
    server.close()
  }
  const [headers] = seen
  assert.equal(headers?.['x-amz-security-token'], 'session')
  assert.match(headers?.authorization ?? '', /SignedHeaders=[^,]*x-amz-security-token/)
  assert.equal(headers?.['x-amz-server-side-encryption'], 'aws:kms')
  assert.equal(headers?.['x-amz-server-side-encryption-aws-kms-key-id'], 'key')
})

it('a server is backed up to S3 and restored from it', async () => {
  await using folder = await temporaryFolder()
  await using service = await openService()
  const target = `s3://${service.bucket}/carrel-${randomBytes(4).toString('hex')}`
  const flags = ['--backup-s3-endpoint', service.endpoint, '--backup-s3-access-key', service.accessKey]
  const env = { CARREL_BACKUP_S3_SECRET_KEY: service.secretKey }
  await using server = await startServer()
  const ann = await server.signUp()
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/big.bin', randomBytes(3_000_000))
  await uploadFile(ann, library, '/small.txt', 'small')
  for (let round = 0; round < 2; round++) {
    const made = await carrel(['backup', target, '--data', server.data, ...flags], { env })
    assert.equal(made.code, 0, made.stderr)
  }
  const verified = await carrel(['backup', 'verify', target, '--read-data', ...flags], { env })
  assert.equal(verified.code, 0, verified.stdout + verified.stderr)
  const pruned = await carrel(
    ['backup', 'prune', target, '--backup-keep-last', '1', '--backup-keep-daily', '0', ...flags],
    { env },
  )
  assert.equal(pruned.code, 0, pruned.stderr)
  const data = path.join(folder.path, 'restored')
  const restored = await carrel(['restore', target, '--data', data, ...flags], { env })
  assert.equal(restored.code, 0, restored.stderr)
})

it('a backup whose request to S3 hung for longer than its lock makes no snapshot', {
  skip: cannotBuildShim() ?? (process.env['CARREL_TEST_S3'] !== undefined && 'a real service does not hang'),
}, async () => {
  const [hung, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isHanging = false
  await using service = await openService(async (method, key) => {
    if (!isHanging || method !== 'PUT' || !key.includes('/snapshots/')) return
    isHanging = false
    hung.resolve()
    await released.promise
  })
  await using clock = await ClockShim.build()
  const target = `s3://${service.bucket}/stalled`
  const flags = ['--backup-s3-endpoint', service.endpoint, '--backup-s3-access-key', service.accessKey]
  const env = { CARREL_BACKUP_S3_SECRET_KEY: service.secretKey }
  await using server = await startServer()
  const ann = await server.signUp()
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/a.txt', 'a')
  const backup = ['backup', target, '--data', server.data, ...flags]
  assert.equal((await carrel(backup, { env })).code, 0)
  await uploadFile(ann, library, '/big.bin', randomBytes(3_000_000))
  isHanging = true
  const running = carrel(backup, { env })
  await hung.promise
  const pruned = await carrel(['backup', 'prune', target, '--backup-keep-last', '1', ...flags], {
    env: { ...env, ...clock.environment(700) },
  })
  assert.equal(pruned.code, 0, pruned.stderr)
  released.resolve()
  const { code, stderr } = await running
  assert.equal(code, 1)
  assert.match(stderr, /^carrel backup stood still for so long that another command took over s3:/)
  const verified = await carrel(['backup', 'verify', target, '--read-data', '--json', ...flags], { env })
  assert.deepEqual([verified.code, JSON.parse(verified.stdout).snapshots], [0, 1])
  assert.equal((await carrel(backup, { env })).code, 0)
})
