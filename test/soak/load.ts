import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { carrelProcess } from '../support/command.ts'
import { seededRandom } from '../support/random.ts'
import { MTIME, SyncClient, type TreeSpec } from '../support/sync-client.ts'
import { download, emptyTrash, expectOk, hashOf, runTask, sendChunk, sendFile } from '../support/workload.ts'
import type { Journal } from './journal.ts'

/** Durations of finished operations in milliseconds, by kind. */
export class Latencies {
  #all: number[] = []
  readonly counts = new Map<string, number>()

  add(kind: string, ms: number): void {
    this.#all.push(ms)
    this.count(kind)
  }

  /** An operation whose duration is no latency. */
  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }

  /** The given quantile of the operations since the last call. */
  take(): { p50: number; p99: number; count: number } {
    const sorted = this.#all.sort((a, b) => a - b)
    this.#all = []
    const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0
    return { p50: at(0.5), p99: at(0.99), count: sorted.length }
  }
}

/** One client that repeats one kind of operation. */
interface Worker {
  readonly kind: string
  readonly client: Client
  readonly library: string
  readonly random: () => number
  /** What it has stored, by name, with the hash of the bytes. Bounded, so that the load stays the same. */
  readonly files: Map<string, string>
  counter: number
}

type Operation = (worker: Worker, world: World) => Promise<void>

/** What the operations share. */
interface World {
  /** The data folder, and a target for backups of it. */
  readonly data: string
  readonly target: string
  /** Aborted when the load ends. */
  readonly signal: AbortSignal
  readonly freed: { bytes: number }
  readonly journal: Journal
  readonly admin: Client
  readonly visitor: Client
  readonly libraries: readonly string[]
  readonly synced: SyncClient
}

const MAX_FILES = 40
const REPLACE = [['replace', '1']] as const
const LARGEST_UPLOAD = 6_000_000
const EMPTY_TRASH_EVERY = 25

const OPERATIONS: Record<string, Operation> = {
  upload: async (worker, { journal }) => {
    const name = `file ${Math.floor(worker.random() * MAX_FILES)}.bin`
    const bytes = randomBytes(1 + Math.floor(worker.random() ** 4 * LARGEST_UPLOAD))
    journal.wrote(bytes.length)
    await sendFile(worker.client, worker.library, name, bytes, REPLACE)
    worker.files.set(name, hashOf(bytes))
  },

  chunks: async (worker, { journal }) => {
    const name = `chunks ${Math.floor(worker.random() * 5)}.bin`
    const bytes = randomBytes(300_000)
    // Each chunk is stored as a piece, and again as part of a block.
    journal.wrote(2 * bytes.length)
    for (let start = 0; start < bytes.length; start += 100_000) {
      await sendChunk(worker.client, worker.library, { name, bytes, start, length: 100_000 }, REPLACE)
    }
  },

  download: async (worker, world) => {
    if (worker.files.size < 10) await OPERATIONS['upload']?.(worker, world)
    const all = [...worker.files]
    const [name, hash] = all[Math.floor(worker.random() * all.length)] ?? assert.fail('nothing uploaded')
    assert.equal(hashOf(await download(worker.client, worker.library, name)), hash, name)
  },

  list: async (worker, { libraries }) => {
    const library = libraries[Math.floor(worker.random() * libraries.length)] ?? worker.library
    expectOk(await worker.client.get(`/api/v2.1/repos/${library}/dir/`, { p: '/', recursive: 1 }))
    expectOk(await worker.client.get('/api/v2.1/repos/'))
    expectOk(await worker.client.get(`/api/v2.1/repos/${library}/history/`))
  },

  edit: async (worker) => {
    const folder = `/folder ${worker.counter % 10}`
    const api = `/api/v2.1/repos/${worker.library}`
    if (worker.counter++ < 10) {
      expectOk(
        await worker.client.post(`${api}/dir/`, { query: { p: folder }, form: { operation: 'mkdir' } }),
      )
    }
    const p = `${folder}/note.txt`
    expectOk(await worker.client.post(`${api}/file/`, { query: { p }, form: { operation: 'create' } }))
    expectOk(
      await worker.client.post(`${api}/file/`, {
        query: { p },
        form: { operation: 'rename', newname: 'renamed.txt' },
      }),
    )
    expectOk(await worker.client.delete(`${api}/file/`, { query: { p: `${folder}/renamed.txt` } }))
    if (worker.counter % EMPTY_TRASH_EVERY === 0) await emptyTrash(worker.client, worker.library)
  },

  lock: async (worker) => {
    const p = '/locked.txt'
    const api = `/api/v2.1/repos/${worker.library}/file/`
    if (worker.counter++ === 0) {
      expectOk(await worker.client.post(api, { query: { p }, form: { operation: 'create' } }))
    }
    for (const operation of ['lock', 'unlock']) {
      expectOk(await worker.client.put(api, { query: { p }, form: { operation } }))
    }
  },

  search: async (worker, { libraries }) => {
    const library = libraries[Math.floor(worker.random() * libraries.length)] ?? worker.library
    expectOk(await worker.client.get('/api2/search/', { q: 'file', search_repo: library }))
  },

  push: async (worker, { synced, journal }) => {
    const files: Record<string, string | Buffer> = {}
    for (let file = 0; file < 20; file += 1) files[`pushed ${file}.txt`] = `text ${file}`
    files['changed.bin'] = randomBytes(1 + Math.floor(worker.random() ** 2 * 2_000_000))
    journal.wrote(files['changed.bin'].length)
    const spec: TreeSpec = { device: files }
    const head = await synced.head()
    await synced.push(spec, head)
    await synced.listIds(await synced.head(), head)
    if (worker.counter++ % EMPTY_TRASH_EVERY === 0) await emptyTrash(worker.client, synced.library)
  },

  share: async (worker, { visitor }) => {
    const form = { repo_id: worker.library, path: '/' }
    const link = await worker.client.post('/api/v2.1/share-links/', { form })
    expectOk(link)
    expectOk(await visitor.get(`/api/v2.1/share-links/${link.body.token}/dirents/`, { path: '/' }))
    expectOk(await worker.client.delete(`/api/v2.1/share-links/${link.body.token}/`))
    const api = `/api2/repos/${worker.library}/dir/shared_items/`
    const shared = { share_type: 'user', username: visitor.email, permission: 'r' }
    expectOk(await worker.client.put(api, { query: { p: '/' }, form: shared }))
    expectOk(await visitor.get(`/api2/repos/${worker.library}/dir/`))
    const ended = { p: '/', share_type: 'user', username: visitor.email }
    expectOk(await worker.client.delete(api, { query: ended }))
  },

  task: async (worker, { libraries }) => {
    const target = libraries[0] ?? worker.library
    const name = 'copied.bin'
    if (worker.counter++ === 0) {
      await sendFile(worker.client, worker.library, name, randomBytes(500_000))
    }
    await runTask(worker.client, { operation: 'copy', source: worker.library, target, name }, 20)
    const p = `/${name}`
    expectOk(await worker.client.delete(`/api/v2.1/repos/${target}/file/`, { query: { p } }))
  },

  archive: async (worker) => {
    const started = await worker.client.post(`/api/v2.1/repos/${worker.library}/zip-task/`, {
      json: { parent_dir: '/', dirents: ['docs'] },
    })
    if (started.status === 404) {
      for (let file = 0; file < 20; file += 1) {
        const text = `text ${MTIME} ${file} `.repeat(500)
        await sendFile(worker.client, worker.library, `${file}.txt`, text, [['relative_path', 'docs']])
      }
      return
    }
    expectOk(started)
    const token = started.body.zip_token
    for (;;) {
      const progress = await worker.client.get('/api/v2.1/query-zip-progress/', { token })
      expectOk(progress)
      if (progress.body.zipped >= progress.body.total && progress.body.total > 0) break
      await delay(20)
    }
    const response = await fetch(`${worker.client.url}/seafhttp/zip/${token}`)
    assert.equal(response.status, 200)
    assert.ok((await response.arrayBuffer()).byteLength > 0)
  },
}

/** Commands of the operator beside the running server. */
const COMMANDS: Record<string, Operation> = {
  collect: async (_worker, { data, signal, freed, journal }) => {
    {
      using _collection = journal.begin('collection')
      const { code, stdout, stderr } = await carrelProcess(['gc', '--json', '--data', data], {
        env: { CARREL_GC_GRACE_SECONDS: GRACE_SECONDS },
      })
      assert.equal(code, 0, `carrel gc: ${stdout}${stderr}`)
      freed.bytes += JSON.parse(stdout).freedBytes
    }
    await delay(GC_PAUSE_MS, undefined, { signal }).catch(() => {})
  },

  backup: async (_worker, { data, target, signal, journal }) => {
    {
      using _backup = journal.begin('backup')
      await run(['backup', target, '--data', data])
    }
    await run(['backup', 'prune', target, '--backup-keep-last', '1', ...KEEP_NONE])
    await delay(BACKUP_PAUSE_MS, undefined, { signal }).catch(() => {})
  },
}

async function run(args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await carrelProcess(args)
  assert.equal(code, 0, `carrel ${args.join(' ')}: ${stdout}${stderr}`)
}

export const GRACE_SECONDS = '10'
const GC_PAUSE_MS = 5000
const KEEP_NONE = ['daily', 'weekly', 'monthly'].flatMap((each) => [`--backup-keep-${each}`, '0'])
const BACKUP_PAUSE_MS = 20_000

/** How many clients repeat each operation. */
const CLIENTS: Record<string, number> = { upload: 4, download: 4, list: 2, edit: 3 }

export interface LoadOptions {
  readonly data: string
  readonly target: string
  /** Counts what collections removed. */
  readonly freed: { bytes: number }
  readonly journal: Journal
  /** Pause of each client after an operation, so that the load does not depend on the speed of the server. */
  readonly paceMs: number
  readonly seed: number
  readonly signal: AbortSignal
}

/** Mixed load on a running server. Resolves when the signal is aborted; rejects at the first wrong response. */
export async function runLoad(
  admin: Client,
  latencies: Latencies,
  { data, target, freed, journal, paceMs, seed, signal }: LoadOptions,
): Promise<void> {
  const visitor = await createAccount(admin, 'visitor@example.org')
  const workers: Worker[] = []
  const operations: Record<string, Operation> = { ...OPERATIONS, ...COMMANDS }
  for (const kind of Object.keys(operations)) {
    for (let n = 0; n < (CLIENTS[kind] ?? 1); n += 1) {
      const library = await admin.createLibrary(`${kind} ${n}`)
      // Only the current state is kept, so that what is replaced can be collected.
      await admin.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: 0 } })
      const random = seededRandom(seed + workers.length)
      workers.push({ kind, client: admin, library, random, files: new Map(), counter: 0 })
    }
  }
  const pushing = workers.find(({ kind }) => kind === 'push') ?? assert.fail('nobody pushes')
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const world: World = {
    data,
    target,
    signal: stop,
    freed,
    journal,
    admin,
    visitor,
    libraries: workers.map(({ library }) => library),
    synced: await SyncClient.link(admin, pushing.library),
  }
  // All end before the first failure is thrown, so that nothing writes to the folders any more.
  const ended = await Promise.allSettled(
    workers.map(async (worker) => {
      while (!stop.aborted) {
        const startedAt = performance.now()
        try {
          await operations[worker.kind]?.(worker, world)
        } catch (error) {
          failed.abort()
          throw new Error(`${worker.kind} failed`, { cause: error })
        }
        if (worker.kind in COMMANDS) latencies.count(worker.kind)
        else latencies.add(worker.kind, performance.now() - startedAt)
        await delay(paceMs, undefined, { signal: stop }).catch(() => {})
      }
    }),
  )
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}

async function createAccount(admin: Client, email: string): Promise<Client> {
  const password = 'a visitor of the soak'
  expectOk(await admin.post('/api/v2.1/admin/users/', { form: { email, password } }))
  return Client.signIn(admin.url, email, password)
}
