import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { BlockId } from '../../src/base/objects/index.ts'
import { type Database, openDatabase } from '../../src/platform/database/index.ts'
import { type BucketLimits, type BucketSettings, openBucket } from '../../src/platform/s3/index.ts'
import {
  BlockDamaged,
  BlockMissing,
  type BlockStore,
  BlockStoreError,
  BlockStoreUnavailable,
  readWhole,
} from '../../src/platform/storage/block-store.ts'
import { openDiskBlockStore } from '../../src/platform/storage/disk/index.ts'
import { openS3BlockStore, S3BlockStore } from '../../src/platform/storage/s3/index.ts'
import { blockIdOf, blockStoreContract } from '../support/block-store.contract.ts'
import { openS3, S3_KINDS, type S3Endpoint, s3SkipReason } from '../support/s3.ts'
import { type S3Fault, type S3Proxy, startS3Proxy } from '../support/s3-proxy.ts'

const MIB = 2 ** 20
/** Short enough for tests, and long enough for a busy machine: only calls that are meant to fail wait for them. */
const LIMITS: Partial<BucketLimits> = { retryMs: 1500, stallMs: 20_000 }

let root: string
let template: string

before(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'carrel-s3-store-'))
  template = path.join(root, 'template.db')
  await (await openSqlite(template))[Symbol.asyncDispose]()
})
after(() => rm(root, { recursive: true, force: true }))

function openSqlite(file: string): Promise<Database> {
  return openDatabase({ kind: 'sqlite', file }, { onFatal: (error) => assert.fail(error) })
}

function settingsOf({ bucket, endpoint, region, accessKey, secretKey }: S3Endpoint): BucketSettings {
  return {
    bucket,
    prefix: `${randomUUID()}/`,
    endpoint,
    region,
    pathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  }
}

interface Opened extends AsyncDisposable {
  readonly store: S3BlockStore
  readonly db: Database
  readonly directory: string
  readonly settings: BucketSettings
}

interface OpenOptions {
  readonly cacheBytes?: number
  readonly limits?: Partial<BucketLimits>
  readonly now?: () => number
}

async function openStore(
  settings: BucketSettings,
  { cacheBytes = 100 * MIB, limits = LIMITS, now = () => 1000 }: OpenOptions = {},
): Promise<Opened> {
  const folder = await mkdtemp(path.join(root, 'store-'))
  const file = path.join(folder, 'carrel.db')
  await copyFile(template, file)
  const db = await openSqlite(file)
  const directory = path.join(folder, 'cache')
  const store = await openS3BlockStore({ settings, limits, db, directory, cacheBytes, now })
  return {
    store,
    db,
    directory,
    settings,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await db[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The store alone, for the contract. Its database is closed with it. */
async function openForContract(settings: BucketSettings): Promise<BlockStore> {
  const opened = await openStore(settings)
  return new Proxy(opened.store, {
    get(store, name) {
      if (name === Symbol.asyncDispose) return () => opened[Symbol.asyncDispose]()
      const value: unknown = Reflect.get(store, name, store)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
}

/** A store on a disk that is full once it holds so many bytes. */
function limited(store: BlockStore, maxBytes: number): BlockStore {
  let used = 0
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (name === 'put') {
        return async (id: BlockId, source: AsyncIterable<Uint8Array>) => {
          const bytes = Buffer.concat(await Array.fromAsync(source))
          if (used + bytes.length > maxBytes) {
            const cause = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
            throw new BlockStoreError('The block cannot be stored.', { cause })
          }
          await target.put(id, bytes)
          used += bytes.length
        }
      }
      if (name === 'discard') {
        return async (id: BlockId) => {
          const freed = await target.discard(id)
          used -= freed
          return freed
        }
      }
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Stores a block whose cached copy is removed. */
async function putUncached(
  { store, directory }: Opened,
  size = MIB,
): Promise<{ id: BlockId; bytes: Buffer }> {
  const bytes = randomBytes(size)
  const id = blockIdOf(bytes)
  await store.put(id, bytes)
  await rm(path.join(directory, id.slice(0, 2), id.slice(2)))
  return { id, bytes }
}

for (const kind of S3_KINDS) {
  // In CI the suite fails instead.
  const skip = process.env['CI'] === 'true' ? false : (s3SkipReason(kind) ?? false)
  describe(`blocks in the S3 service of ${kind}`, { skip }, () => {
    let service: S3Endpoint
    before(async () => {
      service = await openS3(kind)
    })
    after(() => service[Symbol.asyncDispose]())

    blockStoreContract(`an S3 store on ${kind}`, () => openForContract(settingsOf(service)))

    async function openBehindProxy(options?: OpenOptions): Promise<Opened & { proxy: S3Proxy }> {
      const proxy = await startS3Proxy(service.endpoint)
      const opened = await openStore({ ...settingsOf(service), endpoint: proxy.endpoint }, options)
      return {
        ...opened,
        proxy,
        async [Symbol.asyncDispose]() {
          await opened[Symbol.asyncDispose]()
          await proxy[Symbol.asyncDispose]()
        },
      }
    }

    it('sends bytes again that were changed on the way, and is unavailable if they always are', async () => {
      await using opened = await openBehindProxy()
      const { store, proxy } = opened
      const first = randomBytes(200_000)
      proxy.fail('PUT', { kind: 'wrong-request' }, 2)
      await store.put(blockIdOf(first), first)
      const bytes = randomBytes(200_000)
      proxy.fail('PUT', { kind: 'wrong-request' }, 3)
      await assert.rejects(store.put(blockIdOf(bytes), bytes), BlockStoreUnavailable)
      assert.deepEqual(await Array.fromAsync(store.list()), [blockIdOf(first)])
      await store.put(blockIdOf(bytes), bytes)
      assert.deepEqual(await store.missing([blockIdOf(bytes)]), [])
    })

    // The rest is about the client, not about the service.
    if (kind !== 'ceph') return

    const passing: S3Fault[] = [
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503 },
      { kind: 'refused' },
      { kind: 'lost-response' },
      { kind: 'cut-response' },
    ]
    for (const fault of passing) {
      const name = fault.kind === 'status' ? `status ${fault.status}` : fault.kind
      it(`reads and writes in spite of ${name}`, async () => {
        await using opened = await openBehindProxy()
        const { store, proxy } = opened
        if (fault.kind !== 'cut-response') proxy.fail('PUT', fault, 2)
        const { id, bytes } = await putUncached(opened)
        proxy.fail('GET', fault, 2)
        assert.ok((await readWhole(store, id)).equals(bytes))
        assert.ok(store.statistics.retries >= 2)
        assert.deepEqual(await Array.fromAsync(store.list()), [id])
      })
    }

    it('fetches again when wrong bytes arrive, and reports damage if they stay wrong', async () => {
      await using opened = await openBehindProxy()
      const { store, proxy } = opened
      const { id, bytes } = await putUncached(opened)
      proxy.fail('GET', { kind: 'wrong-bytes' })
      assert.ok((await readWhole(store, id)).equals(bytes))
      const other = await putUncached(opened)
      proxy.fail('GET', { kind: 'wrong-bytes' }, 2)
      let given = 0
      const reading = async () => {
        for await (const chunk of store.read(other.id)) given += chunk.length
      }
      await assert.rejects(reading, (error) => error instanceof BlockDamaged && error.id === other.id)
      assert.equal(given, 0, 'no byte leaves')
      proxy.fail('GET', { kind: 'wrong-bytes' }, 2)
      await assert.rejects(store.readAtOnce(other.id, { start: 0, end: 10 }), BlockDamaged)
    })

    it('is unavailable if bytes arrive that are wrong in another way each time, and reports no damage', async () => {
      await using opened = await openBehindProxy()
      const { store, proxy } = opened
      const { id, bytes } = await putUncached(opened)
      proxy.fail('GET', { kind: 'changing-bytes' }, 3)
      await assert.rejects(readWhole(store, id), BlockStoreUnavailable)
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('is unavailable while the service does not answer, and recovers', async () => {
      await using opened = await openBehindProxy({ limits: { retryMs: 500, stallMs: 200 } })
      const { store, proxy } = opened
      const { id, bytes } = await putUncached(opened, 100_000)
      for (const method of ['GET', 'PUT', 'DELETE', 'HEAD'] as const) {
        proxy.fail(method, { kind: 'silent' }, 1000)
      }
      const more = randomBytes(70_000)
      await assert.rejects(readWhole(store, id), BlockStoreUnavailable)
      await assert.rejects(store.put(blockIdOf(more), more), BlockStoreUnavailable)
      await assert.rejects(store.reach(), BlockStoreUnavailable)
      assert.deepEqual(await store.missing([id, blockIdOf(more)]), [blockIdOf(more)])
      assert.ok(store.statistics.failures >= 3)
      proxy.recover()
      await store.reach()
      assert.ok((await readWhole(store, id)).equals(bytes))
      await store.put(blockIdOf(more), more)
    })

    it('reports a block whose object is gone, after it asked a few times', async () => {
      await using opened = await openBehindProxy()
      const { store, proxy, settings } = opened
      const { id } = await putUncached(opened, 100_000)
      using bucket = await openBucket(settings)
      for await (const { name } of bucket.list('')) await bucket.remove(name)
      const before = proxy.requests.length
      await assert.rejects(readWhole(store, id), BlockMissing)
      assert.equal(proxy.requests.slice(before).filter((line) => line.startsWith('GET')).length, 4)
      await assert.rejects(store.size(id, { stored: true }), BlockMissing)
      assert.equal(await store.size(id), 100_000)
    })

    it('reads the stored copy itself for checks, not the cached one', async () => {
      await using opened = await openBehindProxy()
      const { store, proxy } = opened
      const bytes = randomBytes(100_000)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      proxy.fail('GET', { kind: 'wrong-bytes' }, 2)
      await assert.rejects(Array.fromAsync(store.read(id, undefined, { stored: true })), BlockDamaged)
      assert.ok((await readWhole(store, id)).equals(bytes), 'the cached copy is still there')
      assert.equal(await store.size(id, { stored: true }), 100_000)
    })

    it('fetches a cached block again that a power failure damaged, also for reads that are not checked', async () => {
      await using opened = await openStore(settingsOf(service))
      const { store, directory } = opened
      const bytes = randomBytes(100_000)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      const file = path.join(directory, id.slice(0, 2), id.slice(2))
      // As a file of the right length whose last bytes were not written.
      await writeFile(file, Buffer.concat([bytes.subarray(0, 50_000), Buffer.alloc(50_000)]))
      const range = { start: 90_000, end: 100_000 }
      const read = Buffer.concat(await Array.fromAsync(store.read(id, range, { unchecked: true })))
      assert.ok(read.equals(bytes.subarray(90_000)))
      await truncate(file, 1000)
      assert.ok((await readWhole(store, id)).equals(bytes))
    })

    it('neither lists nor looks for objects while blocks are written, read and collected', async () => {
      await using opened = await openBehindProxy()
      const { store, proxy } = opened
      const { id } = await putUncached(opened)
      await readWhole(store, id)
      await store.readAtOnce(id, { start: 5, end: 10 })
      await store.size(id)
      await store.missing([id])
      await Array.fromAsync(store.list())
      await store.retire(id)
      await store.discard(id)
      assert.deepEqual(
        proxy.requests.map((line) => line.split(' ')[0]),
        ['PUT', 'GET', 'DELETE'],
      )
    })

    it('caches as many bytes as it may', async () => {
      await using opened = await openStore(settingsOf(service), { cacheBytes: 3 * MIB })
      const { store, directory } = opened
      const blocks = Array.from({ length: 8 }, () => randomBytes(MIB))
      for (const bytes of blocks) await store.put(blockIdOf(bytes), bytes)
      for (const bytes of [...blocks, ...blocks]) {
        assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
      }
      await store[Symbol.asyncDispose]()
      const files = (await readdir(directory, { recursive: true })).filter((name) =>
        /[0-9a-f]{38}$/.test(name),
      )
      assert.ok(files.length <= 3, `${files.length} files`)
    })

    it('evicts blocks when the disk of its cache is full, and reads and writes on', async () => {
      await using opened = await openStore(settingsOf(service))
      const directory = path.join(opened.directory, '../small')
      await using store = new S3BlockStore({
        db: opened.db,
        bucket: await openBucket(opened.settings, LIMITS),
        cache: limited(await openDiskBlockStore({ directory }), 24 * MIB),
        cacheBytes: 1000 * MIB,
        recreateCache: () => assert.fail('nobody deleted it'),
        now: () => 1000,
      })
      const blocks = Array.from({ length: 40 }, () => randomBytes(MIB))
      let refusals = 0
      for (const bytes of blocks) {
        await store.put(blockIdOf(bytes), bytes).catch(async (error: unknown) => {
          assert.ok(error instanceof BlockStoreUnavailable, String(error))
          refusals += 1
          await store.put(blockIdOf(bytes), bytes)
        })
      }
      assert.ok(refusals > 0, 'the disk was full')
      for (const bytes of blocks) assert.ok((await readWhole(store, blockIdOf(bytes))).equals(bytes))
    })

    it('works on after its cache was deleted', async () => {
      await using opened = await openStore(settingsOf(service))
      const { store, directory } = opened
      const bytes = randomBytes(MIB)
      const id = blockIdOf(bytes)
      await store.put(id, bytes)
      for (const name of await readdir(directory)) {
        await rm(path.join(directory, name), { recursive: true, force: true })
      }
      assert.ok((await readWhole(store, id)).equals(bytes))
      for (const name of await readdir(directory)) {
        await rm(path.join(directory, name), { recursive: true, force: true })
      }
      const more = randomBytes(MIB)
      // The first write finds out.
      await store.put(blockIdOf(more), more).catch((error: unknown) => {
        assert.ok(error instanceof BlockStoreUnavailable)
      })
      await store.put(blockIdOf(more), more)
    })

    it('deletes the objects of uploads that nobody finished, without listing', async () => {
      let now = 1000
      await using opened = await openBehindProxy({ now: () => now, limits: { retryMs: 0 } })
      const { store, proxy, settings } = opened
      using bucket = await openBucket(settings)
      const names = () => Array.fromAsync(bucket.list(''))
      // Its response is lost, so nobody knows whether it is stored.
      proxy.fail('PUT', { kind: 'lost-response' })
      const lost = randomBytes(70_000)
      await assert.rejects(store.put(blockIdOf(lost), lost), BlockStoreUnavailable)
      const writer = store.begin()
      await writer.write(randomBytes(80_000))
      const received = await writer.finish()
      await received.synced
      await received.discard()
      assert.equal((await names()).length, 2)
      assert.equal(await store.deleteLeftovers(3600), 80_000, 'the other may still arrive')
      assert.equal((await names()).length, 1)
      now += 3601
      assert.equal(await store.deleteLeftovers(3600), 70_000)
      assert.deepEqual(await names(), [])
    })

    it('keeps a block that is stored again while its deletion is in progress', async () => {
      await using opened = await openBehindProxy()
      const { store, proxy } = opened
      const { id, bytes } = await putUncached(opened, 100_000)
      await store.retire(id)
      const held = proxy.hold('DELETE')
      const discarding = store.discard(id)
      const release = await held
      await store.put(id, bytes)
      release()
      await discarding
      assert.deepEqual(await store.missing([id]), [])
      await rm(path.join(opened.directory, id.slice(0, 2), id.slice(2)))
      assert.ok((await readWhole(store, id)).equals(bytes))
      assert.deepEqual(await Array.fromAsync(store.listRetired()), [])
    })

    it('does not acknowledge an upload that was given up meanwhile', async () => {
      let now = 1000
      await using opened = await openBehindProxy({ now: () => now })
      const { store, proxy } = opened
      const bytes = randomBytes(100_000)
      const held = proxy.hold('PUT')
      const putting = store.put(blockIdOf(bytes), bytes)
      const release = await held
      now += 7200
      await store.deleteLeftovers(3600)
      release()
      await assert.rejects(putting, BlockStoreUnavailable)
      assert.deepEqual(await store.missing([blockIdOf(bytes)]), [blockIdOf(bytes)])
    })
  })
}
