import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { findProgram } from '../../bin/system-programs.ts'
import { startArchive, waitForArchive } from '../support/archives.ts'
import { Client } from '../support/client.ts'
import { NodeProcesses } from '../support/node-processes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { startReverseProxy } from '../support/reverse-proxy.ts'
import { ADMIN } from '../support/server.ts'
import { filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'
import { unzip } from '../support/zip-reader.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

describe('three nodes that are processes of their own', { skip }, () => {
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
  })
  after(() => postgres[Symbol.asyncDispose]())

  it('lose nothing acknowledged and finish all work when one of them is killed', async () => {
    await using cluster = await NodeProcesses.start(postgres, 3)
    const { nodes } = cluster
    const [first, second, third] = nodes
    assert.ok(first && second && third)
    const client = await Client.signIn(first.url, ADMIN.email, ADMIN.password)
    const library = await client.createLibrary()
    for (let n = 0; n < 30; n += 1) await store(client, library, `before ${n}`)
    const other = new Client(second.url, client.token, client.email)
    const target = await other.createLibrary('Target')
    // All of this begins at the node that is killed.
    const names = await namesIn(client, library)
    const archive = await startArchive(client, library, '/', names)
    const form = { src_repo_id: library, src_parent_dir: '/', src_dirents: names, dst_repo_id: target }
    const task = await client.post('/api/v2.1/repos/async-batch-copy-item/', {
      json: { ...form, dst_parent_dir: '/' },
    })
    assert.equal(task.status, 200, task.text)
    const load = new Load([first.url, second.url, third.url], client, library)
    const loading = load.run()
    await load.acknowledged(10)
    await first.kill()
    await load.acknowledged(40)
    load.stop()
    await loading
    const left = await namesIn(other, library)
    for (const name of load.names) assert.ok(left.includes(name), `${name} was acknowledged and is lost`)
    assert.equal(new Set(left).size, left.length)
    const zipped = await waitForArchive(new Client(third.url, client.token, client.email), archive)
    assert.equal(zipped.zipped, zipped.total)
    const response = await fetch(`${third.url}/seafhttp/zip/${archive}`)
    assert.deepEqual([...unzip(Buffer.from(await response.arrayBuffer())).keys()].sort(), names.toSorted())
    for (let tries = 0; (await namesIn(other, target)).length < names.length; tries += 1) {
      assert.ok(tries < 600, 'the task was not taken over')
      await wait(100)
    }
  })

  for (const program of ['nginx', 'haproxy'] as const) {
    const missing = findProgram(program) === undefined && `${program} is not installed`
    it(`are restarted one by one behind ${program} without a failed request`, { skip: missing }, async () => {
      await using cluster = await NodeProcesses.start(postgres, 3, {
        CARREL_DRAIN_SECONDS: '4',
        CARREL_TRUSTED_PROXIES: '127.0.0.1',
      })
      await using proxy = await startReverseProxy(
        program,
        cluster.nodes.map(({ port }) => port),
      )
      const client = await Client.signIn(proxy.url, ADMIN.email, ADMIN.password)
      const library = await client.createLibrary()
      const load = new Load([proxy.url], client, library)
      const loading = load.run()
      for (const node of cluster.nodes) {
        const before = load.names.length
        assert.equal(await node.stop(), 0)
        await node.start()
        await load.acknowledged(before + 10)
      }
      load.stop()
      await loading
      assert.deepEqual(load.failures, [])
      const stored = await namesIn(client, library)
      for (const name of load.names) assert.ok(stored.includes(name), `${name} was acknowledged and is lost`)
    })
  }
})

async function store(client: Client, library: string, name: string): Promise<void> {
  const reply = await postForm(await uploadLink(client, library), [intoRoot, filePart(name, name)])
  assert.equal(reply.status, 200, reply.text)
}

/** Uploads small files, one after the other, each to the next of some addresses. */
class Load {
  /** Files whose upload was acknowledged. */
  readonly names: string[] = []
  /** What else came back. */
  readonly failures: string[] = []
  readonly #clients: readonly Client[]
  readonly #library: string
  #isStopped = false
  #requests = 0

  constructor(urls: readonly string[], { token, email }: Client, library: string) {
    this.#clients = urls.map((url) => new Client(url, token, email))
    this.#library = library
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const name = `load ${this.#requests}`
      const client = this.#clients[this.#requests++ % this.#clients.length]
      if (client === undefined) return
      try {
        await store(client, this.#library, name)
        this.names.push(name)
      } catch (error) {
        this.failures.push(String(error))
        if (this.failures.length > 100) return
      }
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Resolves when so many uploads were acknowledged. */
  async acknowledged(count: number): Promise<void> {
    const deadline = Date.now() + 120_000
    while (this.names.length < count) {
      assert.ok(
        Date.now() < deadline,
        `only ${this.names.length} uploads, failed: ${this.failures.slice(0, 3).join()}`,
      )
      await wait(20)
    }
  }
}
