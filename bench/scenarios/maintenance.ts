import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { carrel, environment, program } from '../../test/support/command.ts'
import type { BenchServer } from '../bench-server.ts'
import { longUpload } from '../long-upload.ts'
import { median } from '../median.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { sizeText } from '../size-text.ts'
import { expectFiles, randomContent, uploadPath, uploadRequest } from '../transfers.ts'
import type { Workspace } from '../workspace.ts'

const KIB_4 = 4096
const MIB = 2 ** 20
const FILES_PER_REQUEST = 100
const LARGE_FILES_AT_ONCE = 4
const ROUNDS = 3
/** Uploads during a command: their p99 may grow by a fifth. */
const CLIENTS = 8
const MAX_GROWTH = 1.2
const COLLECT = ['gc', '--gc-grace-seconds', '0'] as const
/** A running server renews its lease every 10 s, and 5 s are allowed for differences of clocks. */
const LEASE_MS = 17_000
const MAX_COLLECTIONS = 4

/**
 * Maintenance commands beside a running server. Measures their throughput without load, then the upload latency with and without each command.
 * Windows of equal length alternate between the two, so that drift of the machine affects both.
 */
export const maintenance: Scenario = {
  name: 'maintenance',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    const run = new Commands(workspace)
    const uploads = new Uploads(context, server)
    const rows: Row[] = []
    const largeFile = context.size(16, 1) * MIB
    const ofLarge = contentOf(context.size(32, 4), largeFile)
    const timed = async (what: string, content: Content, args: readonly string[], units: readonly Unit[]) => {
      rows.push(...ratesOf(what, content, await run.timed(args), units))
    }

    // First, because the lease of a command that is killed below holds up deletions for ten minutes.
    const ofGarbage = contentOf(context.size(50_000, 300), KIB_4)
    for (const [garbage, fill, units] of [
      [ofGarbage, () => fillSmall(server, ofGarbage.files), ['files/s', 'MB/s']],
      [ofLarge, () => fillLarge(server, ofLarge.files, largeFile), ['MB/s']],
    ] as const) {
      await purge(server, await fill())
      const condemningMs = await run.condemned(garbage)
      rows.push(...ratesOf('garbage collection, condemning', garbage, condemningMs, units))
      await run.outlastedLeases()
      rows.push(...ratesOf('garbage collection, deleting', garbage, await run.freed(garbage), units))
    }
    const ofEach = contentOf(context.size(30_000, 300), KIB_4)
    const becomeGarbage = async () => {
      await purge(server, await fillSmall(server, ofEach.files))
      await run.condemned(ofEach)
      await run.outlastedLeases()
    }
    const collecting = () => run.repeated(() => COLLECT)
    rows.push(...(await uploads.effectOf('garbage collection', collecting, becomeGarbage)))

    const target = path.join(workspace.folder, 'backup')
    const ofSmall = contentOf(context.size(100_000, 300), KIB_4)
    await fillSmall(server, ofSmall.files)
    await timed('full backup', ofSmall, ['backup', target], ['files/s', 'MB/s'])
    await timed('incremental backup of nothing new', ofSmall, ['backup', target], ['files/s'])
    await timed('check', ofSmall, ['check'], ['files/s'])
    await timed('check with data', ofSmall, ['check', '--read-data'], ['files/s', 'MB/s'])
    const largeLibrary = await fillLarge(server, ofLarge.files, largeFile)
    await timed('incremental backup', ofLarge, ['backup', target], ['MB/s'])
    await timed('check with data', ofLarge, ['check', '--read-data', '--library', largeLibrary], ['MB/s'])
    const all = {
      files: ofSmall.files + ofLarge.files,
      bytes: ofSmall.bytes + ofLarge.bytes,
      text: `${ofSmall.text} and ${ofLarge.text}`,
    }
    await timed('verification with data', all, ['backup', 'verify', target, '--read-data'], ['MB/s'])
    rows.push(...ratesOf('restore', all, await run.restored(target), ['files/s', 'MB/s']))

    const effect = async (what: string, argsOf: (attempt: number) => readonly string[]) => {
      rows.push(...(await uploads.effectOf(what, () => run.repeated(argsOf, { kill: true }))))
    }
    const scratch = (name: string) => path.join(workspace.folder, name)
    await effect('a full backup', (attempt) => ['backup', scratch(`backup-${attempt}`)])
    await effect('an incremental backup', () => ['backup', target])
    await effect('a check with data', () => ['check', '--read-data'])
    await effect('a restore', (attempt) => ['restore', target, '--data', scratch(`restored-${attempt}`)])
    return rows
  },
}

type Unit = 'files/s' | 'MB/s'

/** What a command works through. */
interface Content {
  readonly files: number
  readonly bytes: number
  readonly text: string
}

function contentOf(files: number, bytesEach: number): Content {
  const each = bytesEach === KIB_4 ? '4 KiB' : sizeText(bytesEach)
  const text = `${files.toLocaleString('en-US')} files of ${each}`
  return { files, bytes: files * bytesEach, text }
}

function ratesOf(what: string, { files, bytes, text }: Content, ms: number, units: readonly Unit[]): Row[] {
  return units.map((unit) => ({
    what: `${what}, ${text}`,
    value: (unit === 'files/s' ? files : bytes / 1e6) / (ms / 1000),
    unit,
  }))
}

/** Uploads files into 100 folders of one library. */
async function fillSmall(server: BenchServer, files: number): Promise<string> {
  const library = await server.client.createLibrary('Small')
  const contents = Array.from({ length: FILES_PER_REQUEST }, (_, k) => randomContent(KIB_4, k))
  await server.load({
    connections: 4,
    warmUp: { count: 0 },
    measured: { count: Math.ceil(files / FILES_PER_REQUEST) },
    request: uploadRequest({ path: await uploadPath(server, library), folder: 'folder-{n%100}', contents }),
  })
  return library
}

async function fillLarge(server: BenchServer, files: number, bytes: number): Promise<string> {
  const library = await server.client.createLibrary('Large')
  const link = await uploadPath(server, library)
  for (let first = 0; first < files; first += LARGE_FILES_AT_ONCE) {
    const count = Math.min(LARGE_FILES_AT_ONCE, files - first)
    await server.upload(Array.from({ length: count }, (_, at) => longUpload(link, first + at, bytes)))
  }
  await expectFiles(server, library, files)
  return library
}

async function purge(server: BenchServer, library: string): Promise<void> {
  const deleted = await server.client.delete(`/api2/repos/${library}/`)
  const purged = await server.client.delete(`/api/v2.1/deleted-repos/${library}/`)
  if (deleted.status !== 200 || purged.status !== 200) {
    throw new Error(`the library cannot be purged: ${deleted.status}, ${purged.status}`)
  }
}

/** Small uploads, to measure what they lose while something else runs. */
class Uploads {
  readonly #context: Context
  readonly #server: BenchServer

  constructor(context: Context, server: BenchServer) {
    this.#context = context
    this.#server = server
  }

  /** The p99 without and with the work, as medians of alternating windows, and their ratio. `prepare` comes before each pair of them. */
  async effectOf(what: string, work: () => AsyncDisposable, prepare = async () => {}): Promise<Row[]> {
    const quiet: number[] = []
    const busy: number[] = []
    for (let round = 0; round < this.#context.size(ROUNDS, 1); round += 1) {
      await prepare()
      quiet.push(await this.#window())
      await using _working = work()
      busy.push(await this.#window())
    }
    const [quietMs, busyMs] = [median(quiet, Number), median(busy, Number)]
    return [
      { what: `uploads before and after ${what}, p99`, value: quietMs, unit: 'ms' },
      { what: `uploads during ${what}, p99`, value: busyMs, unit: 'ms' },
      {
        what: `growth of that p99 by ${what}`,
        value: busyMs / quietMs,
        unit: 'times',
        target: { atMost: MAX_GROWTH },
      },
    ]
  }

  /** The p99 of one window, in a library of its own. */
  async #window(): Promise<number> {
    const library = await this.#server.client.createLibrary('Beside')
    const { p99Ms } = await this.#server.load({
      connections: CLIENTS,
      warmUp: { ms: this.#context.size(1000, 50) },
      measured: { ms: this.#context.size(4000, 200) },
      request: uploadRequest({
        path: await uploadPath(this.#server, library),
        contents: [randomContent(KIB_4)],
      }),
    })
    return p99Ms
  }
}

/** Commands of `carrel` on the data of a workspace. */
class Commands {
  readonly #workspace: Workspace
  #attempts = 0

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** Milliseconds until it ended, with its start. */
  async timed(args: readonly string[], env: Record<string, string> = this.#workspace.env): Promise<number> {
    const began = performance.now()
    const { code, stdout, stderr } = await carrel(args, { env })
    if (code !== 0) throw new Error(`carrel ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
    return performance.now() - began
  }

  /** Milliseconds of a collection that finds all of this to be garbage. */
  async condemned({ files, text }: Content): Promise<number> {
    const { ms, report } = await this.#collect()
    if (report.condemned.blocks < files) {
      throw new Error(`${report.condemned.blocks} blocks of ${text} were condemned`)
    }
    return ms
  }

  /** Waits until the lease of the running server has been renewed. Until then, garbage collection deletes nothing condemned before the call. */
  outlastedLeases(): Promise<void> {
    return delay(LEASE_MS)
  }

  /**
   * Milliseconds of the collections that delete all of this. A block file is moved away by one and removed by the next, once the leases
   * of the time it was moved have been renewed. That wait is not counted.
   */
  async freed({ bytes, text }: Content): Promise<number> {
    let sumMs = 0
    let freedBytes = 0
    for (let run = 0; run < MAX_COLLECTIONS; run += 1) {
      if (run > 0) await this.outlastedLeases()
      const { ms, report } = await this.#collect()
      sumMs += ms
      freedBytes += report.freedBytes
      if (freedBytes >= bytes && report.waitingBytes === 0) return sumMs
    }
    throw new Error(`${freedBytes} bytes of ${text} were freed`)
  }

  async #collect() {
    const began = performance.now()
    const { code, stdout, stderr } = await carrel([...COLLECT, '--json'], { env: this.#workspace.env })
    if (code !== 0) throw new Error(`carrel gc ended with ${code}: ${stderr || stdout}`)
    const report = JSON.parse(stdout) as {
      condemned: { blocks: number }
      freedBytes: number
      waitingBytes: number
    }
    return { ms: performance.now() - began, report }
  }

  /** Restores into a folder of its own, always with SQLite. */
  async restored(target: string): Promise<number> {
    const folder = path.join(this.#workspace.folder, 'restored')
    const ms = await this.timed(['restore', target], { CARREL_DATA: folder })
    await rm(folder, { recursive: true })
    return ms
  }

  /** Runs a command again and again until it is disposed of, which waits for its end, or kills it. Throws then if it has failed. */
  repeated(argsOf: (attempt: number) => readonly string[], { kill = false } = {}): AsyncDisposable {
    let running: ChildProcess | undefined
    let isOver = false
    const made: string[] = []
    const work = async () => {
      // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- disposing sets it meanwhile
      while (!isOver) {
        const args = argsOf(++this.#attempts)
        made.push(...args.filter((arg) => arg.endsWith(`-${this.#attempts}`)))
        const isRestore = args[0] === 'restore'
        const { CARREL_DATABASE: _database, ...withoutDatabase } = this.#workspace.env
        running = spawn(process.execPath, [...program, ...args], {
          stdio: 'ignore',
          env: {
            ...process.env,
            ...environment,
            ...(isRestore ? withoutDatabase : this.#workspace.env),
            CARREL_UNSAFE_STORAGE: 'allow',
          },
        })
        const [code] = (await once(running, 'exit')) as [number | null]
        if (!isOver && code !== 0) throw new Error(`carrel ${args.join(' ')} ended with ${code}`)
      }
    }
    const working = work()
    // Reported when it is disposed of.
    working.catch(() => {})
    return {
      async [Symbol.asyncDispose]() {
        isOver = true
        if (kill) running?.kill('SIGKILL')
        try {
          await working
        } finally {
          for (const folder of made) await rm(folder, { recursive: true, force: true })
        }
      },
    }
  }
}
