import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { carrel } from '../support/command.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { seededRandom } from '../support/random.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { hashOf } from '../support/workload.ts'
import type { Expectation } from './expectation.ts'
import { randomBytes } from './load.ts'
import { compareWithDisk, listPresent, Recording } from './recording.ts'
import type { Scenario } from './scenarios.ts'

/** A snapshot that `carrel backup` acknowledged, and what a server restored from it must show. */
export interface ExpectedSnapshot {
  readonly id: string
  readonly expected: Expectation
}

const KEEP_LAST = ['--backup-keep-last', '1'].concat(
  ['daily', 'weekly', 'monthly'].flatMap((each) => [`--backup-keep-${each}`, '0']),
)

/** Three backups of a server that changes, and a prune between them. */
export function backupTarget(share: number): Scenario {
  const name = 'backup target'
  return {
    name,
    share,
    async record(seed) {
      const keep = await mkdtemp(path.join(os.tmpdir(), 'carrel-crash-'))
      const [source, target] = [path.join(keep, 'source'), path.join(keep, 'target')]
      await mkdir(target)
      const server = new ChangingServer(source, seed)
      const present = await listPresent(target)
      await using injector = await FaultInjector.create(target)
      const recording = new Recording(injector)
      const snapshots: ExpectedSnapshot[] = []
      const run = (...args: string[]) => commandOutput([...args, '--json', '--data', source], recording.env)
      for (const generation of [0, 1, 2]) {
        if (generation === 2) {
          recording.mark('pruning')
          const { removedPacks, rewrittenPacks } = await run('backup', 'prune', target, ...KEEP_LAST)
          assert.ok(removedPacks + rewrittenPacks > 0, 'packs are pruned')
        }
        const expected = await server.change()
        snapshots.push({ id: (await run('backup', target)).snapshot, expected })
        recording.mark(`snapshot ${generation}`)
      }
      const records = recording.read()
      await compareWithDisk(target, present, records)
      const last = snapshots.at(-1) ?? assert.fail('nothing was backed up')
      return {
        name,
        env: {},
        present,
        records,
        requests: [],
        keep,
        subject(marks) {
          const acknowledged = snapshots.filter((_, generation) => marks.has(`snapshot ${generation}`))
          // A prune may have removed all but the last one of its time.
          const kept = marks.has('pruning') ? acknowledged.slice(1) : acknowledged
          return { kind: 'target', source, snapshots: kept, expectedNext: last.expected }
        },
      }
    },
  }
}

/** A whole server is restored into an empty folder. */
export function restoredServer(share: number): Scenario {
  const name = 'restore of a server'
  return {
    name,
    share,
    async record(seed) {
      const keep = await mkdtemp(path.join(os.tmpdir(), 'carrel-crash-'))
      const [source, target, data] = ['source', 'target', 'data'].map((one) => path.join(keep, one))
      assert.ok(source !== undefined && target !== undefined && data !== undefined)
      const expected = await new ChangingServer(source, seed).change()
      await commandOutput(['backup', target, '--json', '--data', source])
      await mkdir(data)
      const present = await listPresent(data)
      await using injector = await FaultInjector.create(data)
      const recording = new Recording(injector)
      await commandOutput(['restore', target, '--json', '--data', data], recording.env)
      recording.mark('acknowledged')
      const records = recording.read()
      await compareWithDisk(data, present, records)
      await rm(data, { recursive: true })
      return {
        name,
        env: {},
        present,
        records,
        requests: [],
        keep,
        subject: (marks) => ({
          kind: 'restored',
          target,
          isAcknowledged: marks.has('acknowledged'),
          expected,
        }),
      }
    },
  }
}

/** A data folder with one library that gains, changes and loses files. */
class ChangingServer {
  readonly #data: string
  readonly #random: () => number
  readonly #files: Record<string, string> = {}
  #library: string | undefined
  #counter = 0

  constructor(data: string, seed: number) {
    this.#data = data
    this.#random = seededRandom(seed)
  }

  /** Starts the server, changes files, stops it, collects garbage. Resolves to what it holds then. */
  async change(): Promise<Expectation> {
    const expected = await this.#change()
    // The first collection condemns, the second one deletes.
    for (const _ of [1, 2])
      await commandOutput(['gc', '--json', '--gc-grace-seconds', '0', '--data', this.#data])
    return expected
  }

  async #change(): Promise<Expectation> {
    await using server = await startServer({ data: this.#data })
    const client = await server.admin()
    if (this.#library === undefined) {
      this.#library = await client.createLibrary('Backed up')
      // Only the current state is kept, so that a later snapshot does not need what was deleted.
      await client.put(`/api2/repos/${this.#library}/history-limit/`, { form: { keep_days: 0 } })
    }
    for (const name of Object.keys(this.#files).slice(0, 6)) {
      const api = `/api/v2.1/repos/${this.#library}/file/`
      const { status, text } = await client.delete(api, { query: { p: `/${name}` } })
      assert.equal(status, 200, text)
      delete this.#files[name]
    }
    for (const size of [200, 3000, 20_000, 70_000, 150_000, 400_000, 1_200_000]) {
      const name = `b-${this.#counter++}`
      const bytes = randomBytes(this.#random, size + this.#random() * size)
      await uploadFile(client, this.#library, `/${name}`, bytes)
      this.#files[name] = hashOf(bytes)
    }
    const writer = { library: this.#library, prefix: 'b-', files: { ...this.#files }, unanswered: undefined }
    return { token: undefined, partial: [], writers: [writer] }
  }
}

/** The JSON that a command prints. */
async function commandOutput(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await carrel(args, { env })
  assert.equal(code, 0, `carrel ${args.join(' ')}: ${stderr}${stdout}`)
  return JSON.parse(stdout)
}
