import { existsSync } from 'node:fs'
import path from 'node:path'
import { openDatabase } from '../src/platform/database/open.ts'
import { shareBrowser } from '../test/support/browser.ts'
import { shareS3 } from '../test/support/cluster-settings.ts'
import { type PostgresServer, PostgresUnavailable, startPostgres, warmUp } from '../test/support/postgres.ts'
import { s3SkipReason } from '../test/support/s3.ts'
import { createTemplates } from '../test/support/server.ts'
import { runChecks, writeBuiltFiles } from './check.ts'
import { ensurePrograms } from './system-programs.ts'
import { bundleServer } from './test-bundle.ts'
import { DATABASE_NAMES, planTests, recordSeconds, type TestJob, type Tier } from './test-plan.ts'
import { runInPool } from './test-pool.ts'
import { type FileReport, type ProcessReport, runTestProcess, type TestResult } from './test-process.ts'
import { rerunFailures } from './test-rerun.ts'

// `npm test`: the checks and the fast tier. `--deep` runs the deep tier without the checks, `--all` both tiers with them.
// `npm test -- src/base/objects` runs the files whose path contains one of the given texts, of both tiers at full length, without the
// checks. `--measure` beside any of these writes how long the files took to `test-seconds.json`. With CI=true a skipped test is a failure. `test-plan.ts` says which file is in which tier.

const root = path.join(import.meta.dirname, '..')
const inCi = process.env['CI'] === 'true'

/** A file that takes longer counts as hung. */
const DEADLINE_MS: Record<Tier, number> = { fast: 4 * 60_000, deep: 18 * 60_000 }

/** How many of the files that took longest are listed at the end. */
const SHOWN_FILES = 15

const TIERS: Record<string, readonly Tier[]> = { '--deep': ['deep'], '--all': ['fast', 'deep'] }

async function main(args: readonly string[]): Promise<boolean> {
  process.chdir(root)
  const filters = args.filter((arg) => !arg.startsWith('-'))
  const measures = args.includes('--measure')
  const [flag, ...more] = args.filter((arg) => arg.startsWith('-') && arg !== '--measure')
  const tiers = flag === undefined ? (['fast'] as const) : TIERS[flag]
  if (tiers === undefined || more.length > 0 || (flag !== undefined && filters.length > 0)) {
    console.error(
      'Use `npm test` with nothing, with --deep, with --all, or with parts of paths of test files; and with --measure beside these.',
    )
    return false
  }
  const planned = planTests(root, tiers, filters)
  if (planned.length === 0) {
    console.error(`Name test files that exist: no path contains ${filters.join(' or ')}.`)
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
  // Screenshots are disabled for whole tiers, which would take hundreds, and enabled for files named on the command line.
  if (filters.length === 0) process.env['CARREL_TEST_PICTURES'] ??= '0'
  // Many processes load the same files: compiled once, they save a second of CPU each.
  process.env['NODE_COMPILE_CACHE'] = path.join(root, 'node_modules/.cache/carrel-tests')
  const onNodes = planned.some(({ database }) => database === 'nodes')
  const usesBrowser = planned.some(({ files }) => files.some((file) => /^test\/(?:web|pages)\//.test(file)))
  await using services = new AsyncDisposableStack()
  // At the same time, because each of them waits for others most of the time. Installing takes longest, on a new machine minutes.
  const installing = ensurePrograms(
    planned.flatMap(({ files }) => files),
    { onNodes },
  )
  const browser = usesBrowser ? installing.then(shareBrowser) : undefined
  const [bundle] = await Promise.all([
    bundleServer(root),
    filters.length === 0 || !existsSync(path.join(root, 'sdk/src/responses.ts'))
      ? writeBuiltFiles(stopping.signal)
      : undefined,
    ...[sharedPostgres(), createTemplates(), browser].map(async (service) => services.use(await service)),
    installing,
  ])
  const s3 = onNodes ? sharedS3(services) : undefined
  const jobs = planned.filter(({ database }) => database !== 'nodes' || s3 !== undefined)
  process.env['CARREL_TEST_BUNDLE'] = JSON.stringify(bundle)
  const count = new Set(jobs.flatMap(({ files }) => files)).size
  console.log(`Running ${count} test files in ${jobs.length} processes.\n`)
  const [failedChecks, passed] = await Promise.all([
    filters.length === 0 ? runChecks(tiers, stopping.signal) : [],
    runJobs(jobs, { signal: stopping.signal, showsAll: filters.length > 0, measures, s3 }),
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
    const server = await startPostgres({ fsync: false, forRun: true })
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

/**
 * Starts one S3 service for all clusters under test. It takes a quarter of a minute, mostly waiting, so the other jobs do not wait for it.
 * Returns undefined where it cannot run; then tests on several nodes do not run.
 */
function sharedS3(services: AsyncDisposableStack): Promise<unknown> | undefined {
  const reason = s3SkipReason('ceph')
  if (reason !== undefined && !inCi) {
    console.log(`S3: none (${reason}). Skipped: suites on three nodes.`)
    return undefined
  }
  const started = shareS3()
  // The jobs that need it report the failure, so here it is not of interest.
  const ended = started.then(
    (service) => service,
    () => undefined,
  )
  services.defer(async () => (await ended)?.[Symbol.asyncDispose]())
  return started
}

/** The name of a database that holds the schema and nothing else. */
async function createTemplate(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase()
  const onFatal = (error: Error) => {
    throw error
  }
  const database = await openDatabase({ kind: 'postgres', url }, { onFatal })
  await database[Symbol.asyncDispose]()
  await warmUp(url)
  return new URL(url).pathname.slice(1)
}

interface RunOptions {
  readonly signal: AbortSignal
  /** Whether each test is listed, not only the failures. */
  readonly showsAll: boolean
  /** Whether the plan is told how long the files took. */
  readonly measures: boolean
  /** Resolves once jobs on several nodes can start. */
  readonly s3: Promise<unknown> | undefined
}

/** Runs all jobs and prints the results of each once it has ended, the failures once more at the end. */
async function runJobs(
  jobs: readonly TestJob[],
  { signal, showsAll, measures, s3 }: RunOptions,
): Promise<boolean> {
  const counts = { tests: 0, passed: 0, failed: 0, skipped: 0 }
  const files: FileReport[] = []
  const taken: FileReport[] = []
  const skipped: string[] = []
  const failures: JobFailure[] = []
  const unfinished = new Set(jobs)

  await runInPool(jobs, signal, async (job) => {
    if (job.database === 'nodes') await s3
    if (signal.aborted) return
    const startedAt = performance.now()
    const report = await runTestProcess({
      files: job.files,
      env: environmentOf(job),
      deadlineMs: DEADLINE_MS[job.tier],
      signal,
    })
    if (!signal.aborted) unfinished.delete(job)
    const seconds = (performance.now() - startedAt) / 1000
    for (const result of report.results) {
      if (result.kind !== 'test') continue
      counts.tests += 1
      counts[result.skipped !== undefined ? 'skipped' : result.ok ? 'passed' : 'failed'] += 1
      if (result.skipped !== undefined)
        skipped.push(`${nameOf(job)}: ${result.name}${reasonOf(result.skipped)}`)
    }
    taken.push(...report.files)
    for (const file of report.files) files.push({ ...file, name: withDatabase(file.name, job) })
    const texts = failuresOf(job, report)
    if (texts.length > 0) failures.push({ job: { ...job, files: failedFilesOf(job, report) }, texts })
    console.log(textOf(job, report, seconds, texts.length > 0, showsAll))
  })
  const unsteady = signal.aborted ? [] : await rerun(failures, signal)
  const failed = failures.filter((failure) => !unsteady.includes(failure)).flatMap(({ texts }) => texts)

  if (skipped.length > 0) {
    console.log(`\n${inCi ? 'Skipped, which CI=true counts as failed' : 'Skipped'}:`)
    for (const name of skipped) console.log(`  ${name}`)
  }
  if (measures && !signal.aborted) recordSeconds(root, taken)
  const longest = files.sort((a, b) => b.seconds - a.seconds).slice(0, SHOWN_FILES)
  console.log('\nLongest, and CPU time:')
  for (const { name, seconds, cpuSeconds } of longest)
    console.log(`  ${seconds.toFixed(0).padStart(4)} s ${cpuSeconds.toFixed(0).padStart(4)} s  ${name}`)
  if (unsteady.length > 0) {
    const texts = unsteady.flatMap(({ texts }) => texts)
    console.log(
      `\nUnsteady, because they failed once and passed when run again alone:\n\n${texts.join('\n')}`,
    )
  }
  if (failed.length > 0) console.log(`\nFailures:\n\n${failed.join('\n')}`)
  if (signal.aborted) {
    console.log(`\nNot finished (${String(signal.reason)}): ${[...unfinished].map(nameOf).join(', ')}`)
  }
  const cpu = files.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  console.log(
    `\n${Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}, CPU ${cpu.toFixed(0)} s`,
  )
  const isComplete = !signal.aborted && counts.tests > 0 && !(inCi && skipped.length > 0)
  return isComplete && failed.length === 0
}

interface JobFailure {
  /** Only the files that failed. */
  readonly job: TestJob
  readonly texts: readonly string[]
}

/** Runs the files that failed once more, with nothing beside them. Returns the failures that are gone then. */
function rerun(failures: readonly JobFailure[], signal: AbortSignal): Promise<JobFailure[]> {
  return rerunFailures(
    failures,
    ({ job }) => job.files.length,
    async ({ job }) => {
      const report = await runTestProcess({
        files: job.files,
        env: environmentOf(job),
        deadlineMs: DEADLINE_MS[job.tier],
        signal,
      })
      const passes = failuresOf(job, report).length === 0
      console.log(`Run again: ${passes ? '✔' : '✖'} ${nameOf(job)}`)
      return passes
    },
  )
}

/** The files of a job that failed. All of them if the process itself did, because it may have ended before the last one. */
function failedFilesOf(job: TestJob, { results, failure }: ProcessReport): readonly string[] {
  if (failure !== undefined) return job.files
  return results.filter(({ ok, nesting }) => !ok && nesting === 0).map(({ name }) => name)
}

function environmentOf({ database, tier }: TestJob): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...(database !== 'sqlite' && database !== 'processes' && { CARREL_TEST_DATABASE: 'postgres' }),
    ...(database === 'plain' && { CARREL_TEST_PLAIN: '1' }),
    ...(database === 'nodes' && { CARREL_TEST_NODES: '3' }),
    ...(database === 'processes' && { CARREL_TEST_SERVER_PROCESSES: '2' }),
    ...(tier === 'deep' && { CARREL_TEST_DEEP: '1' }),
  }
}

/** Texts of the failures: tests and suites with an error of their own, and the process itself. */
function failuresOf(job: TestJob, { results, failure, output }: ProcessReport): string[] {
  const texts = results.flatMap((result, index) =>
    result.ok || result.error === undefined
      ? []
      : [`✖ ${withDatabase(pathOf(results, index), job)}\n${indented(result.error, 4)}\n`],
  )
  if (failure !== undefined) {
    texts.push(`✖ ${nameOf(job)} ${failure}\n${indented(output.slice(-5000), 4)}\n`)
  }
  return texts
}

/** The names of a test and the suites around it. Results come after those of their children. */
function pathOf(results: readonly TestResult[], index: number): string {
  const names: string[] = []
  let nesting = Infinity
  for (const result of results.slice(index)) {
    if (result.nesting >= nesting) continue
    nesting = result.nesting
    names.unshift(result.name)
  }
  return names.join(' > ')
}

/** What is printed about a job: a line, and everything if it failed or was asked for by name. */
function textOf(
  job: TestJob,
  { results, files, output, failure }: ProcessReport,
  seconds: number,
  hasFailed: boolean,
  showsAll: boolean,
): string {
  const tests = results.filter(({ kind }) => kind === 'test').length
  const fileLines = files.map(
    (file) =>
      `    ${file.seconds.toFixed(1).padStart(5)} s, CPU ${file.cpuSeconds.toFixed(1).padStart(5)} s  ${file.name}`,
  )
  const cpu = files.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  const times = `${seconds.toFixed(1)} s, CPU ${cpu.toFixed(1)} s`
  const line = `${hasFailed ? '✖' : '✔'} ${nameOf(job)}: ${tests} tests (${times})`
  const lines = results
    .filter((result) => showsAll || !result.ok)
    .map(({ ok, name, nesting, ms, skipped, error }) => {
      const sign = skipped !== undefined ? '﹣' : ok ? '✔' : '✖'
      const text = `${sign} ${name} (${ms.toFixed(0)} ms)${error === undefined ? '' : `\n${indented(error, 4)}`}`
      return indented(text, 2 + nesting * 2)
    })
  return [
    line,
    ...(files.length > 1 ? fileLines : []),
    ...lines,
    ...(failure === undefined ? [] : [`  ${failure}`]),
    ...(hasFailed || showsAll ? outputLines(output) : []),
  ].join('\n')
}

const outputLines = (output: string) => (output.trim() === '' ? [] : [indented(output.trimEnd(), 2)])
const indented = (text: string, by: number) => text.replace(/^/gm, ' '.repeat(by))
const withDatabase = (name: string, { database }: TestJob) =>
  database === 'sqlite' ? name : `${name} on ${DATABASE_NAMES[database]}`

function nameOf(job: TestJob): string {
  const [first = ''] = job.files
  const others = job.files.length - 1
  return withDatabase(others === 0 ? first : `${first} and ${others} more`, job)
}

const reasonOf = (reason: string | boolean) =>
  typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
