import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { WorkerInput } from '../../src/cli/supervise.ts'
import { readConfig } from '../../src/config/index.ts'
import { Supervisor } from '../../src/processes/supervisor.ts'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, filePart, formBytes, intoRoot, namesIn, uploadLink } from '../support/transfer.ts'

const BOUNDARY = 'carrel-process-count'
const KEPT = 8

describe('a server whose number of processes follows the load', () => {
  let data = ''
  let url = ''
  let supervisor: Supervisor
  let decision: 'grow' | 'shrink' | 'stay' = 'stay'
  const logged: string[] = []

  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-process-count-'))
    const config = readConfig({
      env: {
        CARREL_DATA: data,
        CARREL_PORT: '0',
        CARREL_RATE_LIMIT: 'off',
        CARREL_UNSAFE_STORAGE: 'allow',
        CARREL_LOG: 'fatal',
        CARREL_RESERVE_MB: '0',
        CARREL_PROCESSES: 'auto',
        CARREL_ADMIN_EMAIL: ADMIN.email,
        CARREL_ADMIN_PASSWORD: ADMIN.password,
      },
      cwd: data,
    })
    const log = (_fields: object, message: string) => void logged.push(message)
    supervisor = new Supervisor({
      entry: new URL('../../src/cli/serve-worker.ts', import.meta.url),
      input: { config, pretty: false } satisfies WorkerInput,
      count: 2,
      scaler: {
        decide() {
          const decided = decision
          decision = 'stay'
          return decided
        },
      },
      deadNodeId: undefined,
      firstNodeId: 'first',
      logger: { info: log, warn: log, error: log },
      onFatal: () => assert.fail('fatal'),
    })
    const { listening } = (await supervisor.start()) as { listening: { url: string } }
    ;({ url } = listening)
  })
  after(async () => {
    await supervisor.stop(0)
    await rm(data, { recursive: true, force: true })
  })

  it('grows and shrinks under load without a failed request', async () => {
    const client = await Client.signIn(url, ADMIN.email, ADMIN.password)
    const library = await client.createLibrary()
    using load = new Load(client, new URL(await uploadLink(client, library)).pathname)
    const loading = load.run()
    decision = 'grow'
    await eventually(async () => {
      assert.equal(supervisor.pids.size, 2)
      assert.match((await send(url, '/metrics', { client })).body, /\{process="2"\}/)
    })
    await load.acknowledged(load.names.length + 20)
    // Kept connections to both processes, on which requests come after one of them was retired.
    const agents = Array.from({ length: KEPT }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    for (const agent of agents) assert.equal((await send(url, '/readyz', { agent })).status, 200)
    const [, retired] = supervisor.pids.values()
    decision = 'shrink'
    await eventually(async () => assert.ok(logged.includes('there is little to do; a process is retired')))
    await load.acknowledged(load.names.length + 20)
    assert.equal(supervisor.pids.get(2), retired, 'it ended before its connections')
    const replies = await Promise.all(agents.map((agent) => send(url, '/readyz', { agent })))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    const closed = replies.filter(({ headers }) => headers.connection === 'close')
    assert.ok(closed.length > 0 && closed.length < KEPT, `${closed.length} were closed`)
    await eventually(async () => assert.equal(supervisor.pids.size, 1))
    await load.acknowledged(load.names.length + 20)
    load.stop()
    await loading
    for (const agent of agents) agent.destroy()
    assert.deepEqual(load.failures, [])
    const stored = await namesIn(client, library)
    for (const name of load.names) assert.ok(stored.includes(name), `${name} was acknowledged and is lost`)
    assert.ok(!logged.includes('a process died; it is started again'))
  })
})

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Sent {
  readonly agent?: Agent
  readonly client?: Client
  readonly form?: Buffer
}

async function send(url: string, target: string, { agent, client, form }: Sent): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sent = request(url + target, {
    agent: agent ?? false,
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      ...(client && { Authorization: `Token ${client.token}` }),
      ...(form && { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }),
    },
  })
  sent.once('response', resolve).once('error', reject).end(form)
  const response = await promise
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

/** Uploads small files over kept connections, several at once, each one after the other. */
class Load implements Disposable {
  readonly names: string[] = []
  readonly failures: unknown[] = []
  readonly #client: Client
  readonly #target: string
  #isStopped = false

  constructor(client: Client, target: string) {
    this.#client = client
    this.#target = target
  }

  async run(): Promise<void> {
    await Promise.all([1, 2, 3, 4].map((writer) => this.#write(writer)))
  }

  stop(): void {
    this.#isStopped = true
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  async acknowledged(count: number): Promise<void> {
    await eventually(async () => assert.ok(this.names.length >= count || this.failures.length > 0))
  }

  async #write(writer: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; !this.#isStopped; n += 1) {
      const name = `load ${writer} ${n}`
      const form = formBytes([intoRoot, filePart(name, name)], BOUNDARY)
      try {
        const reply = await send(this.#client.url, this.#target, { agent, client: this.#client, form })
        if (reply.status === 200) this.names.push(name)
        else this.failures.push(`${reply.status} ${reply.body}`)
      } catch (error) {
        this.failures.push(error)
      }
    }
    agent.destroy()
  }
}
