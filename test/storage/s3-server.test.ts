import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import sharp from 'sharp'
import { cut } from '../../src/base/objects/chunker.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { type Bucket, openBucket, writeObject } from '../../src/platform/s3/index.ts'
import { blockIdOf } from '../support/block-store.contract.ts'
import { Client } from '../support/client.ts'
import { carrel, environment, program } from '../support/command.ts'
import { download, downloadLink } from '../support/encrypted.ts'
import { openS3, type S3Endpoint, s3SkipReason } from '../support/s3.ts'
import { type S3Proxy, startS3Proxy } from '../support/s3-proxy.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { eventually, postForm, uploadFile, uploadLink } from '../support/transfer.ts'

const MIB = 2 ** 20

// In CI the suite fails instead.
const skip = process.env['CI'] === 'true' ? false : (s3SkipReason('ceph') ?? false)

describe('a server with blocks in S3', { skip }, () => {
  let service: S3Endpoint
  let proxy: S3Proxy
  let folder: string
  let server: TestServer
  let ann: Client
  let library: string
  const large = randomBytes(9 * MIB)

  const envOf = (prefix: string): Record<string, string> => ({
    CARREL_BLOCKS: `s3://${service.bucket}/${prefix}?endpoint=${proxy.endpoint}&region=${service.region}`,
    CARREL_UNSAFE_STORAGE: 'allow',
    CARREL_BLOCK_CACHE_MB: '4',
    CARREL_GC_GRACE_SECONDS: '0',
    AWS_ACCESS_KEY_ID: service.accessKey,
    AWS_SECRET_ACCESS_KEY: service.secretKey,
  })
  const bucketAt = (prefix: string): Promise<Bucket> => {
    const { bucket, endpoint, region, accessKey: accessKeyId, secretKey: secretAccessKey } = service
    const credentials = { accessKeyId, secretAccessKey }
    return openBucket({ bucket, prefix, endpoint, region, pathStyle: true, credentials })
  }

  before(async () => {
    service = await openS3('ceph')
    proxy = await startS3Proxy(service.endpoint)
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-s3-server-'))
    // The credential chain of the SDK reads the variables of the process.
    process.env['AWS_ACCESS_KEY_ID'] = service.accessKey
    process.env['AWS_SECRET_ACCESS_KEY'] = service.secretKey
    server = await startServer({ env: envOf('first') })
    ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
    library = await ann.createLibrary('Papers')
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** Deletes the cached blocks, as an operator may at any time. */
  async function emptyCache(data = server.data): Promise<void> {
    const cache = path.join(data, 'block-cache')
    for (const file of await readdir(cache, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) await rm(path.join(file.parentPath, file.name), { force: true })
    }
  }

  /** Runs a command on the data of the server, or on another folder, and returns its JSON document. */
  async function run(args: readonly string[], { code = 0, data = server.data, prefix = 'first' } = {}) {
    const database = server.databaseUrl === undefined ? [] : ['--database', server.databaseUrl]
    const outcome = await carrel([...args, '--json', '--data', data, ...database], { env: envOf(prefix) })
    assert.equal(outcome.code, code, outcome.stdout + outcome.stderr)
    return JSON.parse(outcome.stdout)
  }

  it('stores uploads and returns them, whole and in ranges, also from an empty cache', async () => {
    await uploadFile(ann, library, '/large.bin', large)
    await uploadFile(ann, library, '/small.txt', 'small')
    for (const _ of [1, 2]) {
      assert.ok((await download(ann, library, '/large.bin')).equals(large))
      const link = await downloadLink(ann, library, '/large.bin')
      const range = await fetch(link, { headers: { Range: 'bytes=1000000-5999999' } })
      assert.equal(range.status, 206)
      assert.ok(Buffer.from(await range.arrayBuffer()).equals(large.subarray(1_000_000, 6_000_000)))
      await emptyCache()
    }
    assert.equal((await download(ann, library, '/small.txt')).toString(), 'small')
    using bucket = await bucketAt('first/')
    const objects = await Array.fromAsync(bucket.list(''))
    assert.equal(
      objects.filter(({ name }) => name !== 'store-id').reduce((sum, { size }) => sum + size, 0),
      large.length,
    )
  })

  it('stores chunked uploads, pushes of sync clients and copies, and makes thumbnails', async () => {
    const link = await uploadLink(ann, library)
    for (const [start, end] of [
      [0, 4 * MIB],
      [4 * MIB, 9 * MIB],
    ] as const) {
      const parts = [
        ['parent_dir', '/'] as const,
        { filename: 'part.bin', bytes: large.subarray(start, end) },
      ]
      const headers = {
        'Content-Range': `bytes ${start}-${end - 1}/${large.length}`,
        'Content-Disposition': 'attachment; filename="chunked.bin"',
      }
      const reply = await postForm(link, parts, { query: 'ret-json=1', headers })
      assert.equal(reply.status, 200, reply.text)
    }
    assert.ok((await download(ann, library, '/chunked.bin')).equals(large))

    const synced = await ann.createLibrary('Synced')
    const pushed = randomBytes(3 * MIB)
    await (await SyncClient.link(ann, synced)).push({ 'pushed.bin': pushed })
    assert.ok((await download(ann, synced, '/pushed.bin')).equals(pushed))
    const copy = { operation: 'copy', dst_repo: synced, dst_dir: '/' }
    const copied = await ann.post(`/api/v2.1/repos/${library}/file/`, {
      query: { p: '/large.bin' },
      form: copy,
    })
    assert.equal(copied.status, 200, copied.text)
    assert.ok((await download(ann, synced, '/large.bin')).equals(large))

    const raw = { width: 300, height: 300, channels: 3 } as const
    const picture = await sharp(randomBytes(300 * 300 * 3), { raw })
      .png()
      .toBuffer()
    assert.ok(picture.length > 65_536, 'not a small block')
    await uploadFile(ann, library, '/picture.png', picture)
    const thumbnail = await ann.get(`/api2/repos/${library}/thumbnail/`, { p: '/picture.png', size: 96 })
    assert.equal(thumbnail.status, 200)
  })

  it('is checked, backed up, restored into another prefix, and repaired', async () => {
    assert.deepEqual((await run(['check', '--read-data'])).findings, [])
    const target = path.join(folder, 'backup')
    await run(['backup', target])
    const data = path.join(folder, 'restored')
    await run(['restore', target], { data, prefix: 'second' })
    {
      await using restored = await startServer({ data, env: envOf('second') })
      const client = await Client.signIn(restored.url, 'ann@example.org', 'a long password')
      assert.ok((await download(client, library, '/large.bin')).equals(large))
    }
    await emptyCache()
    using bucket = await bucketAt('first/')
    // All objects of one block of the file: uploads that failed may have left some that no file needs.
    const id = blockIdOf(large.subarray(0, cut(large)))
    const lost = await Array.fromAsync(bucket.list(`${id.slice(0, 2)}/${id.slice(2)}-`))
    assert.ok(lost.length > 0)
    for (const { name } of lost) await bucket.remove(name)
    const { findings } = await run(['check'], { code: 1 })
    assert.ok(findings.length > 0 && findings.every(({ kind }: { kind: string }) => kind === 'block-missing'))
    const repaired = await run(['repair', '--from', target])
    assert.deepEqual(repaired.lost, [])
    assert.ok((await download(ann, library, '/large.bin')).equals(large))
  })

  it('is repaired from earlier versions and deleted objects of a versioned bucket', async () => {
    const { endpoint, region, accessKey: accessKeyId, secretKey: secretAccessKey } = service
    const credentials = { accessKeyId, secretAccessKey }
    const name = `${service.bucket}-versions`
    const sdk = new S3Client({ endpoint, region, forcePathStyle: true, credentials })
    await sdk.send(new CreateBucketCommand({ Bucket: name }))
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await sdk.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration }))
    using bucket = await openBucket({
      bucket: name,
      prefix: 'blocks/',
      endpoint,
      region,
      pathStyle: true,
      credentials,
    })
    const env = {
      ...envOf('blocks'),
      CARREL_BLOCKS: (envOf('blocks')['CARREL_BLOCKS'] ?? '').replace(service.bucket, name),
    }
    await using versioned = await startServer({ env })
    const owner = await versioned.signUp()
    const notes = await owner.createLibrary('Notes')
    const contents = new Map<string, Buffer>()
    const objects = new Map<string, string>()
    for (const file of ['deleted', 'damaged', 'unknown', 'lost']) {
      const bytes = randomBytes(200_000)
      contents.set(file, bytes)
      await uploadFile(owner, notes, `/${file}.bin`, bytes)
      const id = blockIdOf(bytes)
      const [stored] = await Array.fromAsync(bucket.list(`${id.slice(0, 2)}/${id.slice(2)}-`))
      objects.set(file, stored?.name ?? assert.fail('no object'))
    }
    const objectOf = (file: string) => objects.get(file) ?? assert.fail(file)
    // A delete marker, a newer version with other bytes, a lost row, and an object whose versions are gone.
    await bucket.remove(objectOf('deleted'))
    await writeObject(bucket, objectOf('damaged'), randomBytes(200_000))
    await dbOf(versioned.running.services.core).write((tx) =>
      tx.run(
        'delete from block_object where block_id = ?',
        Buffer.from(blockIdOf(contents.get('unknown') ?? assert.fail()), 'hex'),
      ),
    )
    for (const { name: key, version } of await Array.fromAsync(bucket.listVersions(objectOf('lost')))) {
      const one = { Bucket: name, Key: `blocks/${key}`, VersionId: version }
      await sdk.send(new DeleteObjectCommand(one))
    }
    sdk.destroy()
    await emptyCache(versioned.data)

    const database = versioned.databaseUrl === undefined ? [] : ['--database', versioned.databaseUrl]
    const repairIt = async () => {
      const args = ['repair', '--json', '--data', versioned.data, ...database]
      const { code, stdout, stderr } = await carrel(args, { env })
      assert.equal(code, 1, stdout + stderr)
      return JSON.parse(stdout)
    }
    proxy.failAll(/^GET .*[?&]versions/, { kind: 'status', status: 403 })
    const without = await repairIt()
    assert.equal(without.lost.length, 4)
    assert.match(without.warnings[0], /not looked for: .*\(403 .*s3:ListBucketVersions/)
    proxy.recover()

    const { repaired, lost, warnings } = await repairIt()
    assert.deepEqual(
      repaired
        .map((step: { path: string; detail: string }) => [step.path, step.detail.slice(0, 17)])
        .toSorted(),
      ['/damaged.bin', '/deleted.bin', '/unknown.bin'].map((file) => [file, 'an object version']),
    )
    assert.deepEqual(
      lost.map((finding: { path: string }) => finding.path),
      ['/lost.bin'],
    )
    assert.deepEqual(warnings, [])
    for (const file of ['deleted', 'damaged', 'unknown']) {
      assert.ok((await download(owner, notes, `/${file}.bin`)).equals(contents.get(file) ?? assert.fail()))
    }
  })

  it('deletes the objects of deleted files, and no others', async () => {
    const gone = randomBytes(2 * MIB)
    const doomed = await ann.createLibrary('Doomed')
    await uploadFile(ann, doomed, '/gone.bin', gone)
    const deleted = await ann.delete(`/api/v2.1/repos/${doomed}/`)
    assert.equal(deleted.status, 200, deleted.text)
    const purged = await (await server.admin()).delete(`/api/v2.1/admin/trash-libraries/${doomed}/`)
    assert.equal(purged.status, 200, purged.text)
    using bucket = await bucketAt('first/')
    const bytesStored = async () => {
      let bytes = 0
      for await (const { size } of bucket.list('')) bytes += size
      return bytes
    }
    const before = await bytesStored()
    await eventually(async () => {
      await server.running.services.gc.runOnce()
      // Objects that uploads of the same blocks replaced may go as well.
      assert.ok((await bytesStored()) <= before - gone.length)
    })
    assert.deepEqual((await run(['check', '--read-data'])).findings, [])
  })

  it('answers 503 with Retry-After while the service is out of reach, says so, and recovers', async () => {
    for (const method of ['GET', 'PUT', 'HEAD'] as const) proxy.fail(method, { kind: 'refused' }, 100_000)
    await emptyCache()
    const ready = async () => {
      const response = await fetch(`${server.url}/readyz`)
      return { status: response.status, body: (await response.json()) as { checks: Record<string, string> } }
    }
    await eventually(async () => {
      const { status, body } = await ready()
      assert.deepEqual([status, body.checks['blocks']], [503, 'unreachable'])
    })
    const link = await downloadLink(ann, library, '/large.bin')
    const sync = await SyncClient.link(ann, library)
    const { body: detail } = await ann.get(`/api2/repos/${library}/file/detail/`, { p: '/large.bin' })
    const stored = JSON.parse(String((await sync.fetchObjects([detail.id])).get(detail.id)))
    const sent = randomBytes(100_000)
    const unavailable = {
      'a download': () => fetch(link),
      'a block of a sync client': () => sync.call('GET', `block/${stored.block_ids[0]}`),
      'a pushed block': () => sync.call('PUT', `block/${blockIdOf(sent)}`, sent),
      'a thumbnail': () => ann.get(`/api2/repos/${library}/thumbnail/`, { p: '/picture.png', size: 48 }),
    }
    const upload = postForm(
      await uploadLink(ann, library),
      [['parent_dir', '/'] as const, { filename: 'refused.bin', bytes: randomBytes(MIB) }],
      { query: 'ret-json=1' },
    )
    const range = await fetch(link, { headers: { Range: 'bytes=0-99' } })
    assert.equal(range.status, 503)
    assert.ok(Number(range.headers.get('retry-after')) > 0)
    for (const [name, call] of Object.entries(unavailable)) {
      const { status, headers } = await call()
      assert.equal(status, 503, name)
      assert.ok(Number(headers.get('retry-after')) > 0, name)
    }
    const refused = await upload
    assert.equal(refused.status, 503, refused.text)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.equal((await download(ann, library, '/small.txt')).toString(), 'small')
    proxy.recover()
    await eventually(async () => assert.equal((await ready()).status, 200))
    assert.ok((await download(ann, library, '/large.bin')).equals(large))
    const { text: metrics } = await (await server.admin()).get('/metrics')
    assert.match(metrics, /^carrel_s3_failures_total [1-9]/m)
    assert.match(metrics, /^carrel_block_cache_misses_total [1-9]/m)
  })

  it('moves its blocks from disk to S3 and back, beside readers and writers and after a kill', async () => {
    const { CARREL_BLOCKS: _, ...onDisk } = envOf('moved')
    const inS3 = envOf('moved')
    const data = await mkdtemp(path.join(folder, 'moved-'))
    const files = new Map<string, Buffer>()
    let moving = await startServer({ data, env: onDisk })
    const move = async (env: Record<string, string>, ...flags: string[]) => {
      const args = ['migrate', '--json', '--data', data, ...flags]
      const { code, stdout, stderr } = await carrel(args, { env })
      return { code, stderr, report: stdout === '' ? undefined : JSON.parse(stdout) }
    }
    const owner = { email: 'mia@example.org', password: 'a long password' }
    let mia = await moving.signUp(owner)
    const moved = await mia.createLibrary('Moved')
    const add = async (name: string, size = 2 * MIB) => {
      files.set(name, randomBytes(size))
      await uploadFile(mia, moved, `/${name}`, files.get(name) ?? assert.fail())
    }
    const expectAll = async () => {
      for (const [name, bytes] of files) {
        assert.ok((await download(mia, moved, `/${name}`)).equals(bytes), name)
      }
    }
    const restart = async (env: Record<string, string>) => {
      await moving.running.close()
      moving = await startServer({ data, env })
      mia = await Client.signIn(moving.url, owner.email, owner.password)
    }
    try {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await add(name)

      // Killed at the first PUT of a block, beside the server on disk. Two PUTs of the probe and that of the id come before.
      const migration = spawnMigration(data, inS3)
      const ended = once(migration, 'exit')
      for (let puts = 0; puts < 3; puts += 1) (await proxy.hold('PUT'))()
      const release = await proxy.hold('PUT')
      migration.kill('SIGKILL')
      await ended
      release()
      await add('while-copying')
      const copied = await move(inS3)
      assert.equal(copied.code, 0, copied.stderr)
      assert.ok(copied.report.copied > 0)
      assert.deepEqual(copied.report.damaged, [])
      await add('after-copying')
      const early = await move(inS3, '--delete-old')
      assert.equal(early.code, 1)
      assert.match(early.stderr, /still writes to disk: set CARREL_BLOCKS to s3:/)

      await restart(inS3)
      await expectAll()
      await add('to-s3')
      await moving.running.services.gc.runOnce()
      await moving.running.services.gc.runOnce()
      await expectAll()
      // Another node that was not started again would go on writing to the old store.
      const db = dbOf(moving.running.services.core)
      const columns = ['id', 'version', 'address', 'blocks', 'started_at', 'heartbeat_at']
      const row = ['other', '0', 'http://other', 'disk', 0, Math.floor(Date.now() / 1000) + 3600]
      await db.write((tx) => tx.insert('cluster_node', columns, [row]))
      const refused = await move(inS3, '--delete-old')
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /do not write to s3:.*\(http:\/\/other\)/)
      await db.write((tx) => tx.run(`delete from cluster_node where id = 'other'`))
      const emptied = await move(inS3, '--delete-old')
      assert.equal(emptied.code, 0, emptied.stderr)
      assert.equal(emptied.report.done, true)
      assert.ok(emptied.report.copied >= 1, 'the file that was added after the copy')
      await expectAll()
      const left = (await readdir(path.join(data, 'blocks'), { recursive: true })).filter((name) =>
        /[0-9a-f]{38}$|store-id/.test(name),
      )
      assert.deepEqual(left, [])
      assert.equal((await move(inS3)).report.done, true)

      // And back.
      const back = await move(onDisk)
      assert.equal(back.code, 0, back.stderr)
      await restart(onDisk)
      await add('to-disk')
      const done = await move(onDisk, '--delete-old')
      assert.equal(done.code, 0, done.stderr)
      await restart(onDisk)
      await expectAll()
      using bucket = await bucketAt('moved/')
      assert.deepEqual(await Array.fromAsync(bucket.list('')), [])
      const checked = await carrel(['check', '--read-data', '--data', data], { env: onDisk })
      assert.equal(checked.code, 0, checked.stdout)
    } finally {
      await moving[Symbol.asyncDispose]()
    }
  })

  describe('at its start', () => {
    const serve = async (env: Record<string, string>, data: string) => {
      const { code, stdout, stderr } = await carrel(['serve', '--port', '0', '--data', data], { env })
      assert.notEqual(code, 0)
      return stdout + stderr
    }
    const fresh = () => mkdtemp(path.join(folder, 'fresh-'))

    it('refuses another kind of store, another prefix, and one of another server', async () => {
      const { CARREL_BLOCKS: _, ...onDisk } = envOf('first')
      const data = path.join(folder, 'restored')
      assert.match(
        await serve(onDisk, data),
        /are in S3: set CARREL_BLOCKS to s3:.*carrel migrate --blocks disk/,
      )
      assert.match(await serve(envOf('third'), data), /are in s3:\S+\/second\/, not in s3:\S+\/third\//)
      assert.match(await serve(envOf('first'), data), /s3:\S+\/first\/ has those of another server/)
      assert.match(await serve(envOf('first'), await fresh()), /first\/ has the blocks of another server/)
      await using server = await startServer({ env: { CARREL_UNSAFE_STORAGE: 'allow' } })
      const onOther = {
        ...envOf('fourth'),
        ...(server.databaseUrl && { CARREL_DATABASE: server.databaseUrl }),
      }
      await server.running.close()
      assert.match(
        await serve(onOther, server.data),
        /are on disk: set CARREL_BLOCKS to disk.*migrate --blocks s3:/,
      )
    })

    it('says which credentials, rights, bucket or region are wrong', async () => {
      const data = await fresh()
      const with_ = (changed: Record<string, string>) => serve({ ...envOf('fifth'), ...changed }, data)
      assert.match(await with_({ AWS_SECRET_ACCESS_KEY: 'wrong' }), /\(403 Sig.*rejects the AWS credentials/)
      const nowhere = envOf('x').CARREL_BLOCKS?.replace(service.bucket, 'no-such-bucket') ?? ''
      assert.match(await with_({ CARREL_BLOCKS: nowhere }), /\(404 NoSuchBucket\).*create the bucket/)
      proxy.fail('PUT', { kind: 'status', status: 301 })
      assert.match(await with_({}), /another region, so correct the region/)
      for (const method of ['PUT', 'GET', 'DELETE'] as const) {
        proxy.fail(method, { kind: 'status', status: 403 })
        assert.match(await with_({}), /\(403 .*need s3:GetObject, s3:PutObject and s3:DeleteObject/, method)
        proxy.recover()
      }
    })

    it('refuses a service that does not look at the hash of what it stores', async () => {
      // The second PUT has the wrong hash.
      const held = proxy.hold('PUT')
      const started = serve({ ...envOf('sixth'), CARREL_UNSAFE_STORAGE: 'refuse' }, await fresh())
      const release = await held
      const next = proxy.hold('PUT')
      release()
      const releaseWrong = await next
      proxy.fail('PUT', { kind: 'status', status: 200 })
      releaseWrong()
      assert.match(await started, /accepts objects whose bytes do not match.*CARREL_UNSAFE_STORAGE to allow/)
    })
  })
})

/** Starts a move of blocks to S3, which the caller kills. */
function spawnMigration(data: string, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [...program, 'migrate', '--data', data], {
    stdio: 'ignore',
    env: { ...process.env, ...environment, ...env },
  })
}
