import path from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { openDatabase } from '../src/database/open.ts'
import { type PostgresServer, PostgresUnavailable, startPostgres } from '../test/support/postgres.ts'
import { runChecks } from './check.ts'
import { ensurePrograms } from './system-programs.ts'
import { planTests, type TestJob } from './test-plan.ts'
import { inPool } from './test-pool.ts'

// `npm test`: the checks and every test file, some of them once on each database. `npm test -- src/objects` runs the
// files whose path holds one of the given texts, without the checks. With CI=true a skipped test is a failure.

const root = path.join(import.meta.dirname, '..')
const inCi = process.env['CI'] === 'true'

/** How long one test file may take before it counts as hung. */
const FILE_TIMEOUT_MS = 10 * 60 * 1000

/** How many of the files that took longest are named at the end. */
const SHOWN_FILES = 15

declare module 'node:test' {
  interface RunOptions {
    /** Missing in the types; there since Node 24.14. */
    env?: NodeJS.ProcessEnv
  }
}

async function main(filters: readonly string[]): Promise<boolean> {
  process.chdir(root)
  const flag = filters.find((filter) => filter.startsWith('-'))
  if (flag !== undefined) {
    console.error(`Leave out ${flag}: npm test takes parts of the paths of test files and nothing else.`)
    return false
  }
  const jobs = planTests(root, filters)
  if (jobs.length === 0) {
    console.error(`Name test files that exist: no path holds ${filters.join(' or ')}.`)
    return false
  }
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)))
  }

  // The settings of whoever runs the tests are not the settings of the servers under test.
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('CARREL_') && !name.startsWith('CARREL_TEST_')) delete process.env[name]
  }
  // Buffers are filled when they return to their pool, so that a use after that shows as wrong bytes.
  process.env['CARREL_TEST_POISON'] = '1'
  // Cached rows are frozen, and hits verify that nobody changed their bytes.
  process.env['CARREL_TEST_FREEZE_ROWS'] = '1'
  // Hundreds of processes load the same files: compiled once, they save a second of CPU each.
  process.env['NODE_COMPILE_CACHE'] = path.join(root, 'node_modules/.cache/carrel-tests')
  if (jobs.some(({ file }) => file.startsWith('test/'))) ensurePrograms()
  await using _postgres = await sharedPostgres()
  console.log(`Running ${jobs.length} test files, those over HTTP on SQLite and on PostgreSQL.\n`)
  const [failedChecks, passed] = await Promise.all([
    filters.length === 0 ? runChecks(stopping.signal) : [],
    runJobs(jobs, stopping.signal),
  ])
  if (failedChecks.length > 0) console.log(`\nChecks that failed: ${failedChecks.join(', ')}.`)
  return passed && failedChecks.length === 0
}

/** One PostgreSQL for the whole run; the test files find it through CARREL_TEST_POSTGRES. */
async function sharedPostgres(): Promise<AsyncDisposable | undefined> {
  if (process.env['CARREL_TEST_POSTGRES']) {
    console.log('PostgreSQL: the one CARREL_TEST_POSTGRES names.')
    return undefined
  }
  try {
    const startedAt = performance.now()
    const server = await startPostgres({ fsync: false })
    process.env['CARREL_TEST_POSTGRES'] = server.adminUrl
    process.env['CARREL_TEST_POSTGRES_TEMPLATE'] = await createTemplate(server)
    console.log(
      `PostgreSQL: started for this run (${((performance.now() - startedAt) / 1000).toFixed(1)} s).`,
    )
    return server
  } catch (error) {
    if (!(error instanceof PostgresUnavailable) || inCi) throw error
    console.log(`PostgreSQL: none (${error.message}). Tests that need it will be skipped.`)
    return undefined
  }
}

/** The name of a database that holds the schema and nothing else. */
async function createTemplate(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase()
  const onFatal = (error: Error) => {
    throw error
  }
  const database = await openDatabase({ kind: 'postgres', url }, { onFatal })
  await database[Symbol.asyncDispose]()
  return new URL(url).pathname.slice(1)
}

/** Runs all test files and shows what each said once it has ended. */
async function runJobs(jobs: readonly TestJob[], signal: AbortSignal): Promise<boolean> {
  const sums = new Map<string, number>()
  const seconds = new Map<string, number>()
  const skipped: string[] = []
  const unfinished = new Set(jobs.map(nameOf))
  let failures = 0

  const shown = new PassThrough({ objectMode: true, highWaterMark: Number.MAX_SAFE_INTEGER })
  const showing = pipeline(shown, new spec(), process.stdout, { end: false })
  await inPool(jobs, signal, async (job) => {
    const startedAt = performance.now()
    const events: TestEvent[] = []
    for await (const event of run(optionsOf(job, signal)) as AsyncIterable<TestEvent>) {
      const count = countOf(event)
      if (count !== undefined) sums.set(count.name, (sums.get(count.name) ?? 0) + count.count)
      // The failures of all files are listed at the end.
      else if (!isSummary(event)) events.push(event)
      if (event.type === 'test:fail' && event.data.todo === undefined) failures += 1
      if (event.type !== 'test:pass') continue
      const reason = event.data.skip ?? event.data.todo
      if (reason !== undefined) skipped.push(`${nameOf(job)}: ${event.data.name}${reasonOf(reason)}`)
    }
    const spent = (performance.now() - startedAt) / 1000
    seconds.set(nameOf(job), spent)
    if (!signal.aborted) unfinished.delete(nameOf(job))
    shown.write(textEvent(`${nameOf(job)} (${spent.toFixed(1)} s)\n`))
    for (const event of events) shown.write(event)
  })
  shown.end({ type: 'test:summary', data: {} })
  await showing

  if (skipped.length > 0) {
    console.log(`\n${inCi ? 'Skipped, which CI=true counts as failed' : 'Skipped'}:`)
    for (const name of skipped) console.log(`  ${name}`)
  }
  const longest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, SHOWN_FILES)
  console.log(`\nLongest: ${longest.map(([name, spent]) => `${name} ${Math.round(spent)} s`).join(', ')}`)
  if (signal.aborted) console.log(`\nNot finished (${String(signal.reason)}): ${[...unfinished].join(', ')}`)
  console.log(`\n${Array.from(sums, ([name, count]) => `ℹ ${name} ${count}`).join('\n')}`)
  return failures === 0 && !signal.aborted && sums.size > 0 && !(inCi && skipped.length > 0)
}

function optionsOf({ file, database }: TestJob, signal: AbortSignal) {
  const env = { ...process.env, ...(database === 'postgres' && { CARREL_TEST_DATABASE: 'postgres' }) }
  return { files: [file], timeout: FILE_TIMEOUT_MS, signal, env }
}

interface TestEvent {
  readonly type: string
  readonly data: {
    readonly name?: string
    readonly file?: string
    readonly message?: string
    readonly skip?: string | boolean
    readonly todo?: string | boolean
  }
}

/** What a file printed, as the reporter is told of it. */
function textEvent(message: string): TestEvent {
  return { type: 'test:stdout', data: { message } }
}

/** How many tests of a run passed, failed and so on. */
function countOf({ type, data }: TestEvent): { name: string; count: number } | undefined {
  if (type !== 'test:diagnostic' || data.file !== undefined) return undefined
  const [, name, count] =
    /^(tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$/.exec(data.message ?? '') ?? []
  if (name !== undefined) return { name, count: Number(count) }
  return undefined
}

const isSummary = ({ type, data }: TestEvent) =>
  (type === 'test:summary' || type === 'test:diagnostic') && data.file === undefined
const nameOf = ({ file, database }: TestJob) => (database === 'postgres' ? `${file} on PostgreSQL` : file)
const reasonOf = (reason: unknown) => (typeof reason === 'string' ? ` (${reason})` : '')

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
