import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { PostgresUnavailable, startPostgres } from '../test/support/postgres.ts'
import { runChecks } from './check.ts'
import { ensurePrograms } from './system-programs.ts'

// `npm test`: the checks, then every test file. `npm test -- src/objects` runs the files whose path
// holds one of the given texts, without the checks. With CI=true a skipped test is a failure.

const root = path.join(import.meta.dirname, '..')
const inCi = process.env['CI'] === 'true'

/** Suites that speak to a server over HTTP: they are run with SQLite and with PostgreSQL. */
const ON_BOTH_DATABASES = ['test/api/', 'test/seed/', 'test/sync/', 'test/transfer/']

/** Of those, what says nothing about the database and takes long. */
const ON_ONE_DATABASE = [
  'test/api/activities-large',
  'test/api/avatars',
  'test/api/encrypted-crossing',
  'test/api/file-text',
  'test/api/files-hostile',
  'test/api/matrix',
  'test/api/scopes',
  'test/api/sharing-hostile',
  'test/api/thumbnails',
  'test/transfer/download-damage',
  'test/transfer/download-memory',
  'test/transfer/download-ranges',
  'test/transfer/upload-digest',
  'test/transfer/zip',
]

/** What takes longest, most of it waiting: begun first, so that the rest fills the time. */
const LONGEST_FIRST = ['test/clients/', 'test/durability/', 'test/model/', 'test/web/']

/** How long one test file may take before it counts as hung. */
const FILE_TIMEOUT_MS = 10 * 60 * 1000

/** How many of the files that took longest are named at the end. */
const SHOWN_FILES = 15

async function main(filters: readonly string[]): Promise<boolean> {
  process.chdir(root)
  const flag = filters.find((filter) => filter.startsWith('-'))
  if (flag !== undefined) {
    console.error(`Leave out ${flag}: npm test takes parts of the paths of test files and nothing else.`)
    return false
  }
  const files = testFiles(filters)
  if (files.length === 0) {
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
  // Hundreds of processes load the same files: compiled once, they save a second of CPU each.
  process.env['NODE_COMPILE_CACHE'] = path.join(root, 'node_modules/.cache/carrel-tests')
  const failedChecks = filters.length === 0 ? await runChecks(stopping.signal) : []
  if (files.some((file) => file.startsWith('test/'))) ensurePrograms()
  await using _postgres = await sharedPostgres()
  const runs = [await runFiles(files, stopping.signal)]
  const overHttp = files.filter((file) => isAmong(file, ON_BOTH_DATABASES) && !isAmong(file, ON_ONE_DATABASE))
  if (overHttp.length > 0) {
    console.log('\nThe suites over HTTP again, with the server on PostgreSQL.')
    process.env['CARREL_TEST_DATABASE'] = 'postgres'
    runs.push(await runFiles(overHttp, stopping.signal))
  }
  if (failedChecks.length > 0) console.log(`\nChecks that failed: ${failedChecks.join(', ')}.`)
  console.log(`\n${sumOf(runs.map((one) => one.counts)).join('\n')}`)
  return runs.every((one) => one.passed) && failedChecks.length === 0
}

function isAmong(file: string, starts: readonly string[]): boolean {
  return starts.some((start) => file.startsWith(start))
}

/** The counts of all runs, added up, one line each. */
function sumOf(runs: readonly (readonly string[])[]): string[] {
  const sums = new Map<string, number>()
  for (const line of runs.flat()) {
    const [name = '', count] = line.split(' ')
    sums.set(name, (sums.get(name) ?? 0) + Number(count))
  }
  return Array.from(sums, ([name, count]) => `ℹ ${name} ${count}`)
}

function testFiles(filters: readonly string[]): string[] {
  const found = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).sort()
  const isLong = (file: string) => isAmong(file, LONGEST_FIRST)
  const files = [...found.filter(isLong), ...found.filter((file) => !isLong(file))]
  if (filters.length === 0) return files
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  return files.filter((file) => wanted.some((part) => file.includes(part)))
}

/** One PostgreSQL for the whole run; the test files find it through CARREL_TEST_POSTGRES. */
async function sharedPostgres(): Promise<AsyncDisposable | undefined> {
  if (process.env['CARREL_TEST_POSTGRES']) {
    console.log('PostgreSQL: the one CARREL_TEST_POSTGRES names.')
    return undefined
  }
  try {
    const startedAt = performance.now()
    const server = await startPostgres()
    process.env['CARREL_TEST_POSTGRES'] = server.adminUrl
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

async function runFiles(files: readonly string[], signal: AbortSignal) {
  // One more than cores: there is always a test that waits.
  const concurrency = Math.min(availableParallelism() + 1, 4)
  console.log(`Running ${files.length} test files, ${concurrency} at a time.\n`)
  const events = run({ files: [...files], concurrency, timeout: FILE_TIMEOUT_MS, signal })
  const skipped: string[] = []
  const counts: string[] = []
  const seconds = new Map<string, number>()
  const addTime = ({ file, nesting, details }: EndedTest) => {
    if (nesting > 0) return
    const name = relative(file)
    seconds.set(name, (seconds.get(name) ?? 0) + details.duration_ms / 1000)
  }
  let failures = 0
  events.on('test:fail', (event) => {
    addTime(event)
    if (event.todo === undefined) failures += 1
  })
  events.on('test:pass', (event) => {
    addTime(event)
    if (event.skip !== undefined || event.todo !== undefined) {
      skipped.push(`${relative(event.file)}: ${event.name}${reasonOf(event.skip ?? event.todo)}`)
    }
  })

  // The counts are kept back, so that they close the output even when failures are shown again.
  const withoutCounts = async function* (source: AsyncIterable<TestEvent>) {
    for await (const event of source) {
      if (isCount(event)) counts.push(event.data.message)
      else yield event
    }
  }
  await pipeline(events, withoutCounts, new spec(), process.stdout, { end: false })

  if (skipped.length > 0) {
    console.log(`\n${inCi ? 'Skipped, which CI=true counts as failed' : 'Skipped'}:`)
    for (const name of skipped) console.log(`  ${name}`)
  }
  const longest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, SHOWN_FILES)
  console.log(`\nLongest: ${longest.map(([name, spent]) => `${name} ${Math.round(spent)} s`).join(', ')}`)
  if (signal.aborted) console.log(`\nNot finished: ${String(signal.reason)}`)
  const passed = failures === 0 && !signal.aborted && counts.length > 0 && !(inCi && skipped.length > 0)
  return { passed, counts }
}

interface EndedTest {
  readonly file?: string | undefined
  readonly nesting: number
  readonly details: { readonly duration_ms: number }
}

interface TestEvent {
  type: string
  data: object
}

function isCount(event: TestEvent): event is { type: string; data: { message: string } } {
  if (event.type !== 'test:diagnostic' || !('message' in event.data)) return false
  const ofOneFile = 'file' in event.data && event.data.file !== undefined
  return (
    !ofOneFile &&
    /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(String(event.data.message))
  )
}

const relative = (file: string | undefined) =>
  file === undefined ? 'unknown file' : path.relative(root, file)
const reasonOf = (reason: unknown) => (typeof reason === 'string' ? ` (${reason})` : '')

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
