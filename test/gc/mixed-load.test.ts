import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { type BlockId, type DirId, EMPTY_ID } from '../../src/base/objects/ids.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { createWriters, type Writer } from '../kills/writers.ts'
import { archiveOf } from '../support/archives.ts'
import { checkServer, openBlocksOf } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { rounds } from '../support/tier.ts'
import { eventually, filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'

const WRITES = rounds(15, 20, 50)
const MAX_WRITES = 20 * WRITES
const GRACE_SECONDS = 20
const DAY = 86_400
/** The share of what nothing reaches that must be free in the end. */
const FREED_SHARE = 0.99
const env = { CARREL_GC_GRACE_SECONDS: String(GRACE_SECONDS) }

it('collections during mixed load harm nothing, and afterwards everything unreachable is freed', async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-gc-load-'))
  const clock = { now: 1_800_000_000 }
  const now = () => clock.now
  try {
    const libraries: string[] = []
    let freedBytes = 0
    {
      await using server = await startServer({ data, now, env })
      const client = await server.admin()
      const random = seededRandom(seed)
      const writers = await createWriters(client, random)
      writers.push(await Files.create(server, client, random), new PurgedLibraries())
      freedBytes += await writeWhileCollecting(server, client, writers, clock)
      for (const writer of writers) await writer.verify(client)
      t.diagnostic(`${freedBytes} bytes were freed under load`)
      assert.ok(freedBytes > 0)
      libraries.push(...(await listLibraries(client)))
      for (const id of libraries) {
        const form = { keep_days: 0 }
        assert.equal((await client.put(`/api2/repos/${id}/history-limit/`, { form })).status, 200)
      }
      const [deleted = ''] = libraries.splice(0, 1)
      assert.equal((await client.delete(`/api2/repos/${deleted}/`)).status, 200)
    }
    // Later than every deadline: of tickets, chunks, uncommitted blocks and deleted libraries.
    clock.now += 40 * DAY
    await using server = await startServer({ data, now, env })
    const { gc, maintenanceLog } = server.running.services
    await eventually(async () => {
      assert.ok(maintenanceLog.list().some(({ name }) => name === 'libraries deleted long ago'))
    })
    for (let run = 0; run < 6; run += 1) {
      freedBytes += (await gc.runOnce()).freedBytes
      clock.now += DAY
    }
    const left = await compareWithReachable(server)
    t.diagnostic(`${freedBytes} bytes freed, left over: ${JSON.stringify(left)}`)
    assert.deepEqual(left.missing, [])
    const leftBytes = left.small.bytes + left.files.bytes
    assert.ok(freedBytes / (freedBytes + leftBytes) >= FREED_SHARE)
    for (const kind of ['objects', 'references'] as const) {
      assert.ok(left[kind].unreachable <= (1 - FREED_SHARE) * left[kind].stored, kind)
    }
    assert.deepEqual((await checkServer(server)).findings, [])
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

/**
 * The clock advances with each write, so that grace periods end during the load. Writes until something was freed, and resolves to the bytes
 * of it.
 */
async function writeWhileCollecting(
  server: TestServer,
  client: Client,
  writers: readonly Writer[],
  clock: { now: number },
): Promise<number> {
  const load = { running: writers.length, freedBytes: 0 }
  const writing = writers.map(async (writer) => {
    for (let n = 0; n < WRITES || (load.freedBytes === 0 && n < MAX_WRITES); n += 1) {
      await writer.write(client)
      clock.now += 1
    }
    load.running -= 1
  })
  const collecting = async () => {
    while (load.running > 0) load.freedBytes += (await server.running.services.gc.runOnce()).freedBytes
  }
  await Promise.all([collecting(), ...writing])
  return load.freedBytes
}

async function listLibraries(client: Client): Promise<string[]> {
  const listed = await client.get('/api/v2.1/repos/', { type: 'mine' })
  assert.equal(listed.status, 200, listed.text)
  return listed.body.repos.map(({ repo_id }: { repo_id: string }) => repo_id)
}

/** Uploads, replaces and deletes files of a library without history, copies them to another one, and packs archives. */
class Files implements Writer {
  readonly kind = 'file'
  readonly #server: TestServer
  readonly #library: string
  readonly #target: string
  readonly #random: () => number
  readonly #files = new Map<string, Buffer>()

  private constructor(server: TestServer, [library, target]: [string, string], random: () => number) {
    this.#server = server
    this.#library = library
    this.#target = target
    this.#random = random
  }

  static async create(server: TestServer, client: Client, random: () => number): Promise<Files> {
    const ids: [string, string] = [await client.createLibrary('files'), await client.createLibrary('copies')]
    for (const id of ids) await client.put(`/api2/repos/${id}/history-limit/`, { form: { keep_days: 0 } })
    return new Files(server, ids, random)
  }

  async write(client: Client): Promise<void> {
    const choice = this.#random()
    const name = `${Math.floor(this.#random() * 8)}.bin`
    const bytes = this.#files.get(name)
    if (bytes === undefined || choice < 0.4) await this.#upload(client, name)
    else if (choice < 0.7) await this.#delete(client, name)
    else if (choice < 0.85) await this.#copy(client, name)
    else await this.#pack(client, name, bytes)
  }

  async verify(client: Client): Promise<void> {
    for (const [name, bytes] of this.#files) await this.#pack(client, name, bytes)
  }

  async #upload(client: Client, name: string): Promise<void> {
    const bytes = randomBytes(this.#random() < 0.5 ? 5000 : 150_000)
    const link = await uploadLink(client, this.#library)
    const reply = await postForm(link, [intoRoot, ['replace', '1'], filePart(name, bytes)])
    assert.equal(reply.status, 200, reply.text)
    this.#files.set(name, bytes)
  }

  async #delete(client: Client, name: string): Promise<void> {
    const reply = await client.delete(`/api/v2.1/repos/${this.#library}/file/?p=/${name}`)
    assert.equal(reply.status, 200, reply.text)
    this.#files.delete(name)
  }

  async #copy(client: Client, name: string): Promise<void> {
    const json = {
      src_repo_id: this.#library,
      src_parent_dir: '/',
      src_dirents: [name],
      dst_repo_id: this.#target,
      dst_parent_dir: '/',
    }
    const reply = await client.post('/api/v2.1/repos/sync-batch-copy-item/', { json })
    assert.equal(reply.status, 200, reply.text)
  }

  async #pack(client: Client, name: string, bytes: Buffer): Promise<void> {
    const packed = await archiveOf(this.#server, client, this.#library, '/', [name])
    assert.ok(packed.get(name)?.equals(bytes), `${name} in an archive`)
  }
}

/** Creates, fills and purges libraries. */
class PurgedLibraries implements Writer {
  readonly kind = 'purge'

  async write(client: Client): Promise<void> {
    const id = await client.createLibrary('purged')
    const link = await uploadLink(client, id)
    const reply = await postForm(link, [intoRoot, filePart('a', randomBytes(100_000)), filePart('b')])
    assert.equal(reply.status, 200, reply.text)
    assert.equal((await client.delete(`/api2/repos/${id}/`)).status, 200)
    assert.equal((await client.delete('/api/v2.1/deleted-repos/')).status, 200)
  }

  async verify(): Promise<void> {}
}

/** Walks the heads of all libraries, and compares what they reach with what is stored. */
async function compareWithReachable(server: TestServer) {
  const { core, db } = server.running.services
  const reached = { objects: new Set<string>(), references: new Set<string>(), blocks: new Set<string>() }
  for (const { key, root } of await db.all<{ key: number; root: Uint8Array }>(
    'select key, root from library',
  )) {
    const open = [Buffer.from(root).toString('hex') as DirId]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === EMPTY_ID || reached.objects.has(`${key} ${id}`)) continue
      reached.objects.add(`${key} ${id}`)
      for (const entry of (await storesOf(core).objects.getDir(key, id)).dir.entries) {
        if (entry.kind === 'dir') open.push(entry.id)
        else if (entry.id !== EMPTY_ID) {
          reached.objects.add(`${key} ${entry.id}`)
          for (const block of (await storesOf(core).objects.getFile(key, entry.id)).blockIds) {
            reached.references.add(`${key} ${block}`)
            reached.blocks.add(block)
          }
        }
      }
    }
  }
  const rowsOf = async (sql: string) =>
    (await db.all<{ key: number; id: Uint8Array }>(sql)).map(
      ({ key, id }) => `${key} ${Buffer.from(id).toString('hex')}`,
    )
  const objects = await rowsOf('select library_key as key, id from fs_object')
  const references = await rowsOf('select library_key as key, block_id as id from library_block')
  const small = new Map(
    (await db.all<{ id: Uint8Array; size: number }>('select id, length(data) as size from small_block')).map(
      ({ id, size }) => [Buffer.from(id).toString('hex'), size],
    ),
  )
  await using blocks = await openBlocksOf(server)
  const files = new Map<string, number>()
  for await (const id of blocks.list()) files.set(id, await sizeOf(server, id))
  for await (const id of blocks.listRetired()) {
    files.set(id, (await stat(path.join(server.data, 'blocks/removed', id))).size)
  }
  const unreachable = (stored: readonly string[], wanted: ReadonlySet<string>) => ({
    stored: stored.length,
    unreachable: stored.filter((one) => !wanted.has(one)).length,
  })
  const unreachableBytes = (stored: ReadonlyMap<string, number>) => ({
    stored: stored.size,
    bytes: [...stored].reduce((sum, [id, size]) => sum + (reached.blocks.has(id) ? 0 : size), 0),
  })
  return {
    objects: unreachable(objects, reached.objects),
    references: unreachable(references, reached.references),
    small: unreachableBytes(small),
    files: unreachableBytes(files),
    missing: [
      ...[...reached.objects].filter((one) => !objects.includes(one)),
      ...[...reached.references].filter((one) => !references.includes(one)),
      ...[...reached.blocks].filter((one) => !small.has(one) && !files.has(one)),
    ],
  }
}

async function sizeOf({ data }: TestServer, id: BlockId): Promise<number> {
  return (await stat(path.join(data, 'blocks', id.slice(0, 2), id.slice(2)))).size
}
