import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import type { DiskImplementation } from '../../src/platform/storage/disk/disk-block-store.ts'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client, type Reply } from '../support/client.ts'
import { type Fault, FaultInjector, type Operation } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { ADMIN } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { isLong } from '../support/tier.ts'
import { postForm, updateLink, uploadLink } from '../support/transfer.ts'
import { hashOf } from '../support/workload.ts'
import { randomBytes } from './load.ts'
import { someErrors } from './some-errors.ts'

/** How long a process may take to end after a failed sync. It serves nothing meanwhile. */
const END_MS = 5000
/** How many calls of each kind fail, one after another. */
const CALLS = Number(process.env['CARREL_TEST_CRASH_CALLS'] ?? 1)

/** A step of a write path, and the errors that it can have. */
interface Step {
  readonly path: string
  readonly operation: Operation
  readonly effects: readonly Fault['effect'][]
}

const step = (file: string, operation: Operation, ...effects: Fault['effect'][]): Step => ({
  path: file,
  operation,
  effects: someErrors(effects),
})

/** Every step of the ways in which bytes and rows reach the disk. */
const steps: readonly Step[] = [
  step('carrel.db-wal', 'write', 'EIO', 'ENOSPC', 'EROFS', 'short'),
  step('carrel.db-wal', 'sync', 'EIO', 'ENOSPC'),
  step('carrel.db', 'write', 'EIO', 'ENOSPC', 'short'),
  step('carrel.db', 'sync', 'EIO'),
  step('blocks/tmp/*', 'create', 'EMFILE', 'ENFILE', 'ENOSPC', 'EROFS', 'EIO'),
  step('blocks/tmp/*', 'write', 'EIO', 'ENOSPC', 'short'),
  step('blocks/tmp/*', 'sync', 'EIO', 'ENOSPC'),
  step('blocks/??/*', 'rename', 'EIO', 'ENOSPC', 'EROFS'),
  step('blocks/??', 'open', 'EMFILE', 'EIO'),
  step('blocks/??', 'syncFolder', 'EIO'),
  step('search.db-wal', 'write', 'EIO', 'ENOSPC', 'short'),
  step('search.db-wal', 'sync', 'EIO'),
]

/** The two stores differ only in files of blocks. */
const stepsOf = (disk: DiskImplementation) =>
  disk === 'plain' && !isLong ? steps.filter((one) => one.path.startsWith('blocks/')) : steps

/**
 * Whether something acknowledged may depend on what the sync would have covered. A temp file and a chunk are discarded or written again with the
 * refused request, and the search index is derived (I3).
 */
const isFinal = ({ path: file, operation }: Step) =>
  (operation === 'sync' && file.startsWith('carrel.db')) ||
  (operation === 'syncFolder' && file.startsWith('blocks'))

describe('an I/O error', { skip: cannotBuildShim() }, () => {
  for (const disk of ['fast', 'plain'] satisfies DiskImplementation[]) {
    it(`loses nothing acknowledged and ends with its cause, at each step of each write path (${disk} disk store)`, async (t) => {
      const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-io-errors-'))
      await using injector = await FaultInjector.create(data)
      const victim = new Victim(data, { ...injector.env, CARREL_DISK: disk, CARREL_LOG: 'silent' })
      try {
        let cases = 0
        let hits = 0
        const problems: string[] = []
        await victim.start()
        for (const failing of stepsOf(disk)) {
          const { path: file, operation, effects } = failing
          for (const effect of effects) {
            for (let skip = 0; skip < CALLS; skip += 1) {
              const fault = injector.inject({ operations: [operation], path: file, effect, skip, count: 1 })
              const name = `${effect} at ${operation} ${skip + 1} of ${file}`
              try {
                await victim.work()
                const { hits: hit } = fault
                fault.remove()
                cases += 1
                hits += hit
                if (hit > 0 && isFinal(failing)) await victim.expectNoLie()
                await victim.recover()
                await victim.check()
              } catch (error) {
                problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
                fault.remove()
                await victim.restart()
              }
            }
          }
        }
        t.diagnostic(
          `${cases} cases, ${hits} errors, ${victim.acknowledged} acknowledged requests, ${victim.refused} refused, ${victim.starts} starts`,
        )
        assert.deepEqual(problems, [])
      } finally {
        await victim[Symbol.asyncDispose]()
        await rm(data, { recursive: true, force: true })
      }
    })
  }
})

/** A server, and what it acknowledged. */
class Victim implements AsyncDisposable {
  readonly #data: string
  readonly #env: Record<string, string>
  readonly #random = seededRandom(testSeed())
  readonly #files = new Map<string, string>()
  /** Answered with an error: either value is right. Null is no file. */
  readonly #unsure = new Map<string, (string | null)[]>()
  #server: ChildServer | undefined
  #token: string | undefined
  #library = ''
  #counter = 0
  acknowledged = 0
  refused = 0
  starts = 0

  constructor(data: string, env: Record<string, string>) {
    this.#data = data
    this.#env = env
  }

  async start(): Promise<void> {
    this.starts += 1
    this.#server = await spawnServer(this.#data, this.#env)
    if (this.#token !== undefined) return
    const client = await Client.signIn(this.#server.url, ADMIN.email, ADMIN.password)
    this.#token = client.token
    this.#library = await client.createLibrary('Victim')
  }

  async restart(): Promise<void> {
    await this.#server?.kill()
    await this.start()
  }

  /** One request of each kind. Each is acknowledged or refused. */
  async work(): Promise<void> {
    const client = this.#client()
    const n = this.#counter++
    const file = `/api/v2.1/repos/${this.#library}/file/`
    const small = randomBytes(this.#random, 5000)
    const large = randomBytes(this.#random, 1_300_000)
    const chunked = randomBytes(this.#random, 200_000)
    await this.#attempt({ [`s${n}`]: hashOf(small) }, () => this.#upload(`s${n}`, small))
    await this.#attempt({ [`l${n}`]: hashOf(large) }, () => this.#upload(`l${n}`, large))
    const changed = randomBytes(this.#random, 90_000)
    const old = this.#files.get(`s${n}`)
    if (old !== undefined) {
      await this.#attempt({ [`s${n}`]: hashOf(changed) }, async () => {
        const link = await updateLink(client, this.#library)
        return postForm(link, [['target_file', `/s${n}`], { filename: `s${n}`, bytes: changed }])
      })
    }
    await this.#attempt({}, () => this.#upload(`c${n}`, chunked.subarray(0, 100_000), `bytes 0-99999/200000`))
    await this.#attempt({ [`c${n}`]: hashOf(chunked) }, () =>
      this.#upload(`c${n}`, chunked.subarray(100_000), `bytes 100000-199999/200000`),
    )
    await this.#attempt({ [`l${n}`]: null }, () => client.delete(file, { query: { p: `/l${n}` } }))
  }

  /** After a failed fsync the process has ended or says that it is not ready. */
  async expectNoLie(): Promise<void> {
    if (this.#hasEnded()) return
    const status = await this.#client()
      .get('/readyz')
      .then((reply) => reply.status)
      .catch(() => 0)
    if (status === 200 && !this.#hasEnded()) {
      // The process may be about to end.
      const { process: child } = this.#server ?? assert.fail('no server')
      const ended = once(child, 'exit', { signal: AbortSignal.timeout(END_MS) })
      await ended.catch(() => assert.fail('a sync failed, and the server still says that it is ready'))
    }
  }

  /** The same requests succeed now. A server that ended or is not ready is started again, as a service manager does. */
  async recover(): Promise<void> {
    const isReady =
      !this.#hasEnded() &&
      (await this.#client()
        .get('/readyz')
        .then((reply) => reply.status === 200)
        .catch(() => false))
    if (!isReady) await this.restart()
    const before = this.refused
    await this.work()
    assert.equal(this.refused, before, 'requests are refused although the cause is gone')
  }

  async check(): Promise<void> {
    const sync = await SyncClient.link(this.#client(), this.#library)
    const found = new Map<string, string>()
    for (const [name, bytes] of await sync.clone()) found.set(name.slice(1), hashOf(bytes ?? Buffer.of()))
    for (const [name, hashes] of this.#unsure) {
      const actual = found.get(name) ?? null
      assert.ok(hashes.includes(actual), `${name} is neither as before nor as after a refused request`)
      if (actual === null) this.#files.delete(name)
      else this.#files.set(name, actual)
    }
    this.#unsure.clear()
    assert.deepEqual(sorted(found), sorted(this.#files))
    // What was checked often enough is removed, so that the folder stays small.
    for (const name of [...this.#files.keys()].slice(0, -12)) {
      await this.#attempt({ [name]: null }, () =>
        this.#client().delete(`/api/v2.1/repos/${this.#library}/file/`, { query: { p: `/${name}` } }),
      )
    }
  }

  async #attempt(changes: Record<string, string | null>, send: () => Promise<Reply>): Promise<void> {
    const reply = await send().catch((error: unknown) => error)
    const isReply = !(reply instanceof Error)
    const status = isReply ? (reply as Reply).status : 0
    if (status === 200) {
      this.acknowledged += 1
      for (const [name, hash] of Object.entries(changes)) {
        this.#unsure.delete(name)
        if (hash === null) this.#files.delete(name)
        else this.#files.set(name, hash)
      }
      return
    }
    // Deleting a file that an earlier refused request did not create.
    if (status === 404 || status === 400) return
    this.refused += 1
    assert.ok(status === 0 || status >= 500, `the answer was ${status}`)
    for (const [name, hash] of Object.entries(changes)) {
      const before = this.#unsure.get(name) ?? [this.#files.get(name) ?? null]
      this.#unsure.set(name, [...before, hash])
    }
  }

  async #upload(name: string, bytes: Buffer, range?: string): Promise<Reply> {
    const link = await uploadLink(this.#client(), this.#library)
    const headers: Record<string, string> = range === undefined ? {} : { 'Content-Range': range }
    return postForm(link, [['parent_dir', '/'], { filename: name, bytes }], { headers, query: 'ret-json=1' })
  }

  #client(): Client {
    return new Client(this.#server?.url ?? '', this.#token)
  }

  #hasEnded(): boolean {
    const child = this.#server?.process
    return child === undefined || child.exitCode !== null || child.signalCode !== null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.kill()
  }
}

function sorted(files: ReadonlyMap<string, string>): [string, string][] {
  return [...files].sort(([a], [b]) => (a < b ? -1 : 1))
}
