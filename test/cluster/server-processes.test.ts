import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { findFreePort } from '../support/postgres.ts'
import { processTree } from '../support/process-tree.ts'
import { ADMIN } from '../support/server.ts'
import { testCertificates } from '../support/test-certificates.ts'
import { eventually, filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'

const CHUNK = 1_000_000

describe('a server with several processes on one SQLite file', () => {
  let data = ''
  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-processes-'))
  })
  after(() => rm(data, { recursive: true, force: true }))

  it('serves one set of files from all of them, and shows their metrics together', async () => {
    await using server = await start(data, 3)
    const client = await signIn(server)
    const library = await client.createLibrary()
    const names = Array.from({ length: 60 }, (_, n) => `file ${n}`)
    await Promise.all(names.map((name) => store(client, library, name)))
    assert.deepEqual((await namesIn(client, library)).toSorted(), names.toSorted())
    const { text: metrics } = await client.get('/metrics')
    const [, uploads] =
      /carrel_http_requests_total\{route="\/seafhttp\/upload-api[^}]*\} (\d+)/.exec(metrics) ?? []
    assert.equal(uploads, '60')
    for (const number of [1, 2, 3]) {
      assert.match(metrics, new RegExp(`carrel_database_round_trip_seconds\\{process="${number}"\\}`))
    }
    assert.match(metrics, /^carrel_nodes_alive 3$/m)
    const status = await client.get('/api/v2.1/admin/status/')
    assert.equal(status.status, 200, status.text)
    assert.equal(status.body.nodes.length, 3)
    assert.equal(await server.stop(), 0)
  })

  it('loses nothing acknowledged when any of them is killed, and the others go on', async () => {
    await using server = await start(data, 2)
    const client = await signIn(server)
    const library = await client.createLibrary()
    const target = await client.createLibrary('Target')
    const load = new Load(client, library)
    const loading = load.run()
    const bytes = randomBytes(4 * CHUNK)
    for (let start = 0; start < bytes.length; start += CHUNK) {
      await load.acknowledged(load.names.length + 5)
      const [victim, ...others] = workersOf(server)
      assert.ok(victim !== undefined && others.length > 0)
      process.kill(victim, 'SIGKILL')
      await persist(async () => sendChunk(client, library, bytes, start))
      await load.acknowledged(load.names.length + 5)
      const copied = { src_repo_id: library, src_parent_dir: '/', dst_repo_id: target, dst_parent_dir: '/' }
      await persist(() =>
        client.post('/api/v2.1/repos/async-batch-copy-item/', {
          json: { ...copied, src_dirents: [load.names.at(-1)] },
        }),
      )
      await eventually(async () => {
        const workers = workersOf(server)
        assert.equal(workers.length, 2)
        assert.ok(!workers.includes(victim))
      })
    }
    load.stop()
    await loading
    const left = await namesIn(client, library)
    for (const name of load.names) assert.ok(left.includes(name), `${name} was acknowledged and is lost`)
    assert.equal(new Set(left).size, left.length)
    const download = await client.get(`/api2/repos/${library}/file/`, { p: '/chunks.bin' })
    const file = await fetch(download.body)
    assert.ok(bytes.equals(Buffer.from(await file.arrayBuffer())))
    // The tasks of dead processes are taken over as well.
    await eventually(async () => assert.ok((await namesIn(client, target)).length >= 4))
    assert.equal(await server.stop(), 0)
  })

  it('ends with its supervisor, and starts again on the same folder at once', async () => {
    await using first = await start(data, 2)
    const client = await signIn(first)
    const library = await client.createLibrary()
    await store(client, library, 'before')
    const workers = workersOf(first)
    await first.kill()
    await using second = await start(data, 2)
    assert.deepEqual(workers.filter(isRunning), [], 'workers outlived their supervisor')
    const again = new Client(second.url, client.token, client.email)
    assert.deepEqual(await namesIn(again, library), ['before'])
  })

  it('finishes what runs when it stops', async () => {
    await using server = await start(data, 2)
    const client = await signIn(server)
    const library = await client.createLibrary()
    const load = new Load(client, library)
    const loading = load.run()
    await load.acknowledged(5)
    assert.equal(await server.stop(), 0)
    load.stop()
    await loading
    await using again = await start(data, 1)
    const left = await namesIn(new Client(again.url, client.token, client.email), library)
    for (const name of load.names) assert.ok(left.includes(name), `${name} was acknowledged and is lost`)
  })

  it('is refused on a folder that is in use', async () => {
    await using _server = await start(data, 2)
    await assert.rejects(start(data, 2), /ended before it was ready/)
    await assert.rejects(start(data, 1), /ended before it was ready/)
  })

  it('says that it starts while the database of its first process hangs, over HTTP and HTTPS', async () => {
    // Accepts connections and never answers.
    const sockets = new Set<net.Socket>()
    const silent = net.createServer((socket) => void sockets.add(socket.on('error', () => {})))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    await using opened = new AsyncDisposableStack()
    opened.defer(() => {
      for (const socket of sockets) socket.destroy()
      silent.close()
    })
    const files = await writeCertificate(data)
    const ways: Record<string, Record<string, string>> = { http: {}, https: files }
    for (const [scheme, env] of Object.entries(ways)) {
      const port = await findFreePort()
      const started = start(data, 2, {
        ...env,
        CARREL_PORT: String(port),
        CARREL_DATABASE: `postgres://carrel@127.0.0.1:${(silent.address() as net.AddressInfo).port}/carrel`,
      })
      const failed = assert.rejects(started, /ended before it was ready/)
      const url = `${scheme}://127.0.0.1:${port}`
      await eventually(async () => {
        assert.deepEqual(JSON.parse(await get(`${url}/readyz`)), {
          status: 'starting',
          reason: 'The server is starting.',
        })
      })
      await failed
    }
  })

  it('speaks HTTP with the implementation of Node, and HTTPS', async () => {
    await using plain = await start(data, 2, { CARREL_HTTP: 'node' })
    assert.equal((await new Client(plain.url).get('/api2/ping/')).body, 'pong')
    await plain.stop()
    await using secure = await start(data, 2, await writeCertificate(data))
    assert.match(secure.url, /^https:/)
    for (let n = 0; n < 4; n += 1) assert.equal(await get(`${secure.url}/api2/ping/`), '"pong"')
  })
})

function start(data: string, processes: number, env: Record<string, string> = {}): Promise<ChildServer> {
  return spawnServer(data, { CARREL_PROCESSES: String(processes), CARREL_LOG: 'fatal', ...env })
}

function signIn({ url }: ChildServer): Promise<Client> {
  return Client.signIn(url, ADMIN.email, ADMIN.password)
}

/** The process ids of the workers, which are children of the supervisor. */
/** A zombie is not: the process that inherited it may be slow to collect it. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')
  } catch {
    return false
  }
}

function workersOf({ process: { pid } }: ChildServer): number[] {
  assert.ok(pid !== undefined)
  return processTree(pid).slice(1)
}

async function store(client: Client, library: string, name: string): Promise<void> {
  const reply = await postForm(await uploadLink(client, library), [intoRoot, filePart(name, name)])
  assert.equal(reply.status, 200, reply.text)
}

async function sendChunk(client: Client, library: string, bytes: Buffer, start: number) {
  const end = Math.min(bytes.length, start + CHUNK)
  const part = { filename: 'chunks.bin', bytes: bytes.subarray(start, end) }
  return postForm(await uploadLink(client, library), [intoRoot, part], {
    query: 'ret-json=1',
    headers: { 'Content-Range': `bytes ${start}-${end - 1}/${bytes.length}` },
  })
}

/** Repeats a request whose connection was lost with its process, as clients do. */
async function persist(send: () => Promise<{ status: number; text: string }>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      const reply = await send()
      assert.equal(reply.status, 200, reply.text)
      return
    } catch (error) {
      if (error instanceof assert.AssertionError || tries === 10) throw error
    }
  }
}

/** The settings of a certificate in the folder. */
async function writeCertificate(folder: string): Promise<Record<string, string>> {
  const { certificate, key } = testCertificates.one
  const files = {
    CARREL_TLS_CERT: path.join(folder, 'cert.pem'),
    CARREL_TLS_KEY: path.join(folder, 'key.pem'),
  }
  await writeFile(files.CARREL_TLS_CERT, certificate)
  await writeFile(files.CARREL_TLS_KEY, key)
  return files
}

/** Accepts any certificate. */
async function get(url: string): Promise<string> {
  const request = url.startsWith('https:')
    ? https.get(url, { rejectUnauthorized: false, agent: false })
    : http.get(url, { agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return text(response)
}

/** Uploads small files from several clients at once, each one after the other. */
class Load {
  /** Files whose upload was acknowledged. */
  readonly names: string[] = []
  readonly #client: Client
  readonly #library: string
  readonly #changed = new Set<() => void>()
  #isStopped = false

  constructor(client: Client, library: string) {
    this.#client = client
    this.#library = library
  }

  async run(): Promise<void> {
    await Promise.all([1, 2, 3, 4].map((writer) => this.#write(writer)))
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Resolves when so many uploads were acknowledged. */
  async acknowledged(count: number): Promise<void> {
    while (this.names.length < count) await new Promise<void>((resolve) => this.#changed.add(resolve))
  }

  async #write(writer: number): Promise<void> {
    for (let n = 0; !this.#isStopped; n += 1) {
      const name = `load ${writer} ${n}`
      try {
        await store(this.#client, this.#library, name)
      } catch (error) {
        // The connection of a process that was killed, or of a server that has stopped.
        if (error instanceof assert.AssertionError) throw error
        if (isRefused(error)) return
        continue
      }
      this.names.push(name)
      for (const resolve of this.#changed) resolve()
      this.#changed.clear()
    }
  }
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}
