import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import sharp from 'sharp'
import { createWriters, type Writer } from '../kills/writers.ts'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { type Fault, FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { ADMIN } from '../support/server.ts'
import { isLong } from '../support/tier.ts'
import { uploadFile } from '../support/transfer.ts'
import { expectOk } from '../support/workload.ts'
import { someErrors } from './some-errors.ts'

type Step = Pick<Fault, 'operations' | 'path' | 'effect'>

const step = (operation: Fault['operations'][number], file: string, ...effects: Fault['effect'][]): Step[] =>
  someErrors(effects).map((effect) => ({ operations: [operation], path: file, effect }))

/** All rows go through the log. */
const LOG_STEPS = [
  ...step('write', 'carrel.db-wal', 'EIO'),
  ...step('write', 'carrel.db-wal', 'ENOSPC', 'EROFS', 'short'),
  ...step('sync', 'carrel.db-wal', 'EIO'),
]
const BLOCK_STEPS = step('create', 'blocks/tmp/*', 'EMFILE', 'ENOSPC')

/** What else a kind of write does, and how many transactions it has. */
const KINDS: Readonly<Record<string, { steps?: readonly Step[]; transactions?: number }>> = {
  upload: { steps: BLOCK_STEPS },
  chunk: { steps: BLOCK_STEPS },
  push: { steps: BLOCK_STEPS, transactions: 4 },
  task: { transactions: 3 },
  'empty trash': { transactions: 3 },
  archive: {
    transactions: 3,
    steps: [
      ...step('create', 'archives/*', 'EMFILE', 'ENOSPC', 'EROFS'),
      ...step('write', 'archives/*', 'EIO', 'ENOSPC', 'short'),
    ],
  },
  thumbnail: {
    steps: [
      ...step('create', 'thumbnails/*', 'EMFILE', 'ENOSPC', 'EROFS'),
      ...step('write', 'thumbnails/*', 'EIO', 'ENOSPC', 'short'),
      ...step('rename', 'thumbnails/*', 'EIO', 'EROFS'),
    ],
  },
}

/** The transactions that an error hits, one after another: each if a write fails with EIO, otherwise one at random. */
function hitTransactions({ operations, effect }: Step, count: number, random: () => number): number[] {
  const all = Array.from({ length: count }, (_, index) => index)
  const hitsEach = isLong || (operations[0] === 'write' && effect === 'EIO')
  return hitsEach ? all : [Math.floor(random() * count)]
}

describe('an I/O error in one kind of write', { skip: cannotBuildShim() }, () => {
  it('is answered as such, loses nothing acknowledged, and the same write succeeds once its cause is gone', async (t) => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-io-writes-'))
    try {
      await using injector = await FaultInjector.create(data)
      await using victim = await Victim.start(data, injector.env)
      const problems: string[] = []
      const hits = new Map<string, number>()
      let cases = 0
      const random = seededRandom(testSeed())
      for (const writer of victim.writers) {
        const { steps = [], transactions = 1 } = KINDS[writer.kind] ?? {}
        for (const fault of [...LOG_STEPS, ...steps]) {
          for (const skip of hitTransactions(fault, transactions, random)) {
            const injected = injector.inject({ ...fault, skip, count: 1 })
            cases += 1
            try {
              await victim.attempt(writer)
              injected.remove()
              await victim.recover(writer)
            } catch (error) {
              injected.remove()
              problems.push(
                `${fault.effect} at ${fault.operations[0]} ${skip + 1} of ${fault.path}, ${writer.kind}: ${String(error)}`,
              )
              await victim.restart()
            }
            hits.set(writer.kind, (hits.get(writer.kind) ?? 0) + injected.hits)
          }
        }
      }
      t.diagnostic(`${cases} cases, errors by kind of write: ${JSON.stringify([...hits])}`)
      assert.deepEqual(problems, [])
      for (const { kind } of victim.writers) assert.ok((hits.get(kind) ?? 0) > 0, `no error hit ${kind}`)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})

/** A server and one client of each kind of write. */
class Victim implements AsyncDisposable {
  readonly #data: string
  readonly #env: Record<string, string>
  #server: ChildServer
  #client: Client
  writers: readonly Writer[] = []

  private constructor(data: string, env: Record<string, string>, server: ChildServer, client: Client) {
    this.#data = data
    this.#env = env
    this.#server = server
    this.#client = client
  }

  static async start(data: string, shim: Record<string, string>): Promise<Victim> {
    const env = { ...shim, CARREL_LOG: 'silent' }
    const server = await spawnServer(data, env)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const victim = new Victim(data, env, server, client)
    victim.writers = [
      ...(await createWriters(client, seededRandom(testSeed()))),
      new Archives(await client.createLibrary('archived')),
      new Thumbnails(await client.createLibrary('pictures')),
    ]
    // Each once without an error, so that what only the first write does is done.
    for (const writer of victim.writers) await writer.write(client)
    return victim
  }

  /** Acknowledged, refused with 5xx, or not answered because the process ended. */
  async attempt(writer: Writer): Promise<void> {
    try {
      await writer.write(this.#client)
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) return
      const { actual, message } = error
      const isRefusal =
        Number(actual) >= 500 || /^5\d\d /.test(message) || /"failed": ?(?:true|1)/.test(message)
      if (!isRefusal) throw error
    }
  }

  /** Everything acknowledged is there, and the next write succeeds. A server that is not ready is started again, as a service manager does. */
  async recover(writer: Writer): Promise<void> {
    const { status } = await this.#client.get('/readyz').catch(() => ({ status: 0 }))
    if (status !== 200) await this.restart()
    await writer.verify(this.#client)
    await writer.write(this.#client)
    await writer.verify(this.#client)
  }

  async restart(): Promise<void> {
    await this.#server.kill()
    this.#server = await spawnServer(this.#data, this.#env)
    this.#client = new Client(this.#server.url, this.#client.token)
    for (const writer of this.writers) await writer.verify(this.#client)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.kill()
  }
}

/** Archives of a folder, which are built in files. */
class Archives implements Writer {
  readonly kind = 'archive'
  readonly #library: string
  #hasFiles = false

  constructor(library: string) {
    this.#library = library
  }

  async write(client: Client): Promise<void> {
    if (!this.#hasFiles) {
      for (const name of ['a', 'b']) {
        await uploadFile(client, this.#library, `/${name}.txt`, Buffer.alloc(50_000, name))
      }
      this.#hasFiles = true
    }
    const started = await client.post(`/api/v2.1/repos/${this.#library}/zip-task/`, {
      json: { parent_dir: '/', dirents: ['a.txt', 'b.txt'] },
    })
    expectOk(started)
    const token = started.body.zip_token
    for (;;) {
      const progress = await client.get('/api/v2.1/query-zip-progress/', { token })
      expectOk(progress)
      assert.ok(!progress.body.failed, progress.text)
      if (progress.body.zipped >= progress.body.total && progress.body.total > 0) break
      await delay(5)
    }
    const response = await fetch(`${client.url}/seafhttp/zip/${token}`)
    assert.equal(response.status, 200)
    assert.ok((await response.arrayBuffer()).byteLength > 0)
  }

  async verify(): Promise<void> {}
}

/** Thumbnails of ever new pictures. They can be made again at any time. */
class Thumbnails implements Writer {
  readonly kind = 'thumbnail'
  readonly #library: string
  #count = 0

  constructor(library: string) {
    this.#library = library
  }

  async write(client: Client): Promise<void> {
    const name = `${this.#count++}.png`
    const background = { r: this.#count % 256, g: 100, b: 50 }
    const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background } })
      .png()
      .toBuffer()
    await uploadFile(client, this.#library, `/${name}`, bytes)
    const url = `${client.url}/api2/repos/${this.#library}/thumbnail/?p=/${name}&size=48`
    const response = await fetch(url, { headers: { Authorization: `Token ${client.token}` } })
    assert.equal(response.status, 200, `${response.status} thumbnail`)
    assert.ok((await response.arrayBuffer()).byteLength > 0)
  }

  async verify(): Promise<void> {}
}
