import { setTimeout as delay } from 'node:timers/promises'
import { createFile } from '../../src/libraries/edits/entries.ts'
import { at } from '../../test/support/core.ts'
import { type LibraryBuilder, numbered } from '../library-builder.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import type { Workspace } from '../workspace.ts'

const STARTS = 5
const ENTRIES_PER_FOLDER = 20_000
const FILE_BYTES = 100_000
// Maintenance starts one minute after the start, and idle threads end after one minute.
const REST_MS = 150_000
const LAST_JOB = 'stored bytes of the server'

/** Start-up time and memory of a server, with an empty and with a large data folder. */
export const start: Scenario = {
  name: 'start',
  async run(context) {
    await using empty = await context.workspace()
    await using full = await context.workspace('start')
    const files = context.size(1_000_000, 2000)
    const commits = context.size(1000, 20)
    await full.once('made', () => full.prepare((builder) => fill(builder, files, commits)))
    const stored = `${files.toLocaleString('en-US')} files stored`
    return [
      ...(await startSeveralTimes(context, empty, 'nothing stored')),
      ...(await startSeveralTimes(context, full, stored)),
      ...(context.size(1, 0) === 1 ? [await rest(full, stored)] : []),
    ]
  },
}

/** Memory after the work that follows a start has finished and its threads have ended. */
async function rest(workspace: Workspace, stored: string): Promise<Row> {
  const server = await workspace.serve()
  for (;;) {
    await delay(REST_MS)
    const { now } = await server.memory()
    const { body } = await server.client.get('/api/v2.1/admin/status/')
    // Servers that are compared with may have the former name only.
    const jobs: { name: string; failed: boolean }[] = body.maintenance ?? body.upkeep
    const failed = jobs.find((job) => job.failed)
    if (failed !== undefined) throw new Error(`a maintenance job failed: ${failed.name}`)
    if (!jobs.some(({ name }) => name === LAST_JOB)) continue
    await server.stop()
    return {
      what: `memory idle, chores done, ${stored}`,
      value: now / 1e6,
      unit: 'MB',
      target: { atMost: 120 },
    }
  }
}

async function startSeveralTimes(context: Context, workspace: Workspace, stored: string): Promise<Row[]> {
  const readyMs: number[] = []
  const firstPingMs: number[] = []
  const idleBytes: number[] = []
  for (let n = 0; n < context.size(STARTS, 1); n++) {
    const server = await workspace.serve()
    // Idle memory: what remains after the start.
    await delay(context.size(1000, 100))
    readyMs.push(server.readyMs)
    firstPingMs.push(server.firstPingMs)
    idleBytes.push((await server.memory()).now)
    await server.stop()
  }
  return [
    { what: `start until it says ready, ${stored}`, value: median(readyMs), unit: 'ms' },
    {
      what: `start until the first ping, ${stored}`,
      value: median(firstPingMs),
      unit: 'ms',
      target: { atMost: 2000 },
    },
    { what: `memory idle, ${stored}`, value: median(idleBytes) / 1e6, unit: 'MB', target: { atMost: 120 } },
  ]
}

/** Folders of 20,000 entries, one of them with a history of one-file commits. */
async function fill(builder: LibraryBuilder, files: number, commits: number): Promise<{ files: number }> {
  const library = await builder.newLibrary('Full')
  const entries = Math.min(files, ENTRIES_PER_FOLDER)
  for (let n = 0; n < files / entries; n++) {
    await builder.addFiles(library, at(`/${numbered('folder', n)}`), entries, 'file', { bytes: FILE_BYTES })
  }
  for (let n = 0; n < commits; n++) {
    await createFile(library, at(`/${numbered('folder', 0)}/${numbered('added', n)}`))
  }
  await builder.catchUp(library)
  return { files }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
