import { rm } from 'node:fs/promises'
import path from 'node:path'
import { carrel } from '../../test/support/command.ts'
import type { BenchServer } from '../bench-server.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { randomContent, uploadPath, uploadRequest } from '../transfers.ts'
import type { Workspace } from '../workspace.ts'

const KIB_4 = 4096
const FILES_PER_REQUEST = 100
/** Uploads during a command: their p99 may grow by a fifth. */
const CLIENTS = 8
const MAX_GROWTH = 1.2

/** What operators run beside a server, and what it costs uploads at the same time. */
export const maintenance: Scenario = {
  name: 'maintenance',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    const files = context.size(100_000, 300)
    const stored = `${files.toLocaleString('en-US')} files of 4 KiB`
    const library = await fill(server, files)
    const uploads = new Uploads(context, server)
    const quietP99 = await uploads.p99()
    const run = new Commands(workspace)
    const rows: Row[] = [{ what: 'uploads without maintenance, p99', value: quietP99, unit: 'ms' }]

    const measure = async (what: string, args: readonly string[], count = files) => {
      const { ms, p99Ms } = await uploads.during(() => run.timed(args))
      rows.push({ what: `${what}, ${stored}`, value: (count / ms) * 1000, unit: 'files/s' })
      rows.push({
        what: `uploads during ${what}, p99`,
        value: p99Ms,
        unit: 'ms',
        target: { atMost: quietP99 * MAX_GROWTH },
      })
    }
    const target = path.join(workspace.folder, 'backup')
    await measure('full backup', ['backup', target])
    await measure('incremental backup', ['backup', target])
    await measure('verification of a backup with data', ['backup', 'verify', target, '--read-data'])
    await measure('check', ['check'])
    await measure('check with data', ['check', '--read-data'])
    rows.push({
      what: `restore, ${stored}`,
      value: (files / (await run.restored(target))) * 1000,
      unit: 'files/s',
    })
    await purge(server, library)
    await measure('garbage collection: condemn', ['gc', '--gc-grace-seconds', '0'])
    await measure('garbage collection: delete', ['gc', '--gc-grace-seconds', '0'])
    return rows
  },
}

/** Uploads files into 100 folders of one library. */
async function fill(server: BenchServer, files: number): Promise<string> {
  const library = await server.client.createLibrary('Kept')
  const contents = Array.from({ length: FILES_PER_REQUEST }, (_, k) => randomContent(KIB_4, k))
  await server.load({
    connections: 4,
    warmUp: { count: 0 },
    measured: { count: Math.ceil(files / FILES_PER_REQUEST) },
    request: uploadRequest({ path: await uploadPath(server, library), folder: 'folder-{n%100}', contents }),
  })
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

  async p99(): Promise<number> {
    const library = await this.#server.client.createLibrary('Beside')
    const { p99Ms } = await this.#server.load({
      connections: CLIENTS,
      warmUp: { count: this.#context.size(200, 10) },
      measured: { count: this.#context.size(4000, 40) },
      request: uploadRequest({
        path: await uploadPath(this.#server, library),
        contents: [randomContent(KIB_4)],
      }),
    })
    return p99Ms
  }

  /** Runs `work`, with uploads from its beginning to its end. The p99 is the median of their rounds. */
  async during(work: () => Promise<number>): Promise<{ ms: number; p99Ms: number }> {
    const state = { isOver: false }
    const working = work().finally(() => {
      state.isOver = true
    })
    const rounds: number[] = []
    do rounds.push(await this.p99())
    while (!state.isOver)
    // A round that outlasts the work measures it only in part, so it counts only if there is no other.
    const whole = rounds.length > 1 ? rounds.slice(0, -1) : rounds
    return { ms: await working, p99Ms: whole.toSorted((a, b) => a - b)[Math.floor(whole.length / 2)] ?? 0 }
  }
}

/** Commands of `carrel` on the data of a workspace. */
class Commands {
  readonly #workspace: Workspace

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

  /** Restores into a folder of its own, always with SQLite. */
  async restored(target: string): Promise<number> {
    const folder = path.join(this.#workspace.folder, 'restored')
    const ms = await this.timed(['restore', target], { CARREL_DATA: folder })
    await rm(folder, { recursive: true })
    return ms
  }
}
