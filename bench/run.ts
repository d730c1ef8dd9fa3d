import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { programVersion } from '../src/base/version.ts'
import { type PostgresServer, PostgresUnavailable, startPostgres } from '../test/support/postgres.ts'
import { measureHere, OtherCommit } from './against.ts'
import { fileSystemOf } from './file-system.ts'
import { Nginx } from './limits/nginx.ts'
import { MemoryPeak } from './memory.ts'
import { helpText, type Options, parseOptions, UsageError } from './options.ts'
import { mergeResults, type Results, type Run, readResults, writeReadme, writeResults } from './results.ts'
import { type DatabaseKind, type Finding, isMet, type Row } from './row.ts'
import type { Context, Scenario } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import { databaseNames, markdownTable, plainTable } from './table.ts'
import { compareRounds, type TwinFinding, type TwinRound, twinTable } from './twin.ts'
import { Workspace } from './workspace.ts'

// `npm run bench`: starts servers, measures them and prints one table. It fails if a response was wrong or a scenario
// threw, never because of a figure.

/** The result of a run. */
interface Outcome {
  readonly findings: Finding[]
  /** Rows of a comparison. */
  readonly twins: TwinFinding[]
  /** Scenarios that threw, with the reason. */
  readonly failures: string[]
  /** Remarks on the rows, and on rows that are missing. */
  readonly notes: string[]
  /** Each scenario with its database. */
  readonly measured: string[]
}

async function main(args: readonly string[]): Promise<boolean> {
  const names = scenarios.map(({ name }) => name)
  const options = parseOptions(args, names)
  if (options.help) {
    process.stdout.write(helpText(names))
    return true
  }
  if (options.render) return await render(options)
  const apiToken = process.env['CARREL_CLIENT_TOKEN']
  // The servers must not inherit settings of the caller's environment.
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('CARREL_') && !name.startsWith('CARREL_TEST_')) delete process.env[name]
  }
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-bench-'))
  removeWhenInterrupted(folder)
  const outcome: Outcome = { findings: [], twins: [], failures: [], notes: [], measured: [] }
  const began = performance.now()
  try {
    if (options.url !== undefined) await measureAt(options.url, apiToken, options, folder, outcome)
    else if (options.against !== undefined) await measureAgainst(options.against, options, folder, outcome)
    else await measureAll(options, folder, outcome)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  await report(options, outcome, (performance.now() - began) / 60_000)
  return outcome.failures.length === 0
}

/** Runs the scenarios of the plan, or the chosen ones on one database after the other. */
async function measureAll(options: Options, parent: string, outcome: Outcome): Promise<void> {
  const chosen = options.databases.flatMap((database) =>
    scenarios.map(({ name }) => [database, name] as const),
  )
  const plan = (options.plan ?? chosen).filter(
    ([database, name]) => options.databases.includes(database) && options.only?.includes(name) !== false,
  )
  await using opened = new AsyncDisposableStack()
  const benches = new Map<DatabaseKind, Bench | undefined>()
  const began = performance.now()
  for (const [database, name] of plan) {
    const scenario = scenarios.find((one) => one.name === name)
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`)
    if (performance.now() - began > options.totalMs) {
      outcome.notes.push(`${name} on ${databaseNames[database]}: left out, because the time was over`)
      continue
    }
    if (!benches.has(database))
      benches.set(database, await openBench(database, options, parent, outcome, opened))
    await benches.get(database)?.measure(scenario)
  }
}

/** A database for the scenarios of a run. */
interface Bench {
  measure(scenario: Scenario): Promise<void>
}

/** Undefined if PostgreSQL is unavailable. */
async function openBench(
  database: DatabaseKind,
  options: Options,
  parent: string,
  outcome: Outcome,
  opened: AsyncDisposableStack,
): Promise<Bench | undefined> {
  const postgres = database === 'postgres' ? await startOrSkip(options, outcome) : undefined
  if (database === 'postgres' && postgres === undefined) return undefined
  if (postgres !== undefined) opened.use(postgres)
  const peak = new MemoryPeak()
  const { log, profile, keep } = options
  const contextWith = (settings: Readonly<Record<string, string>>) =>
    createContext(database, options, parent, outcome, async (name) => {
      const postgresUrl = await postgres?.createDatabase()
      const kept = keep !== undefined && name !== undefined && postgres === undefined
      return Workspace.create({
        parent,
        ...(kept && { kept: path.join(keep, options.quick ? `${name}-quick` : name) }),
        postgresUrl,
        log,
        profile,
        peak,
        settings,
      })
    })
  const context = contextWith({})
  const add = (scenario: string, rows: readonly Row[]) => {
    for (const row of rows) outcome.findings.push({ ...row, scenario, database, met: isMet(row) })
  }
  return {
    async measure(scenario) {
      peak.bytes = 0
      const began = performance.now()
      const what = `${scenario.name} on ${databaseNames[database]}`
      try {
        if (options.twin === undefined) add(scenario.name, withPeak(await scenario.run(context), peak))
        else {
          const other = contextWith(options.twin)
          const rounds = await alternate(options.rounds, {
            base: () => scenario.run(context),
            twin: () => scenario.run(other),
          })
          outcome.twins.push(...compareRounds(scenario.name, database, rounds))
        }
        outcome.measured.push(what)
      } catch (error) {
        outcome.failures.push(`${what}: ${reasonOf(error)}`)
      }
      progress(`${what}: ${secondsSince(began)} s`)
    },
  }
}

/** Measures a server that runs already. Its database is not known; the rows are those of a default server. */
async function measureAt(
  url: string,
  apiToken: string | undefined,
  options: Options,
  parent: string,
  outcome: Outcome,
): Promise<void> {
  if (apiToken === undefined) throw new UsageError('Set CARREL_CLIENT_TOKEN to an API token of the server.')
  const context = createContext('sqlite', options, parent, outcome, () => {
    throw new Error('the scenario starts servers of its own')
  })
  for (const scenario of scenarios) {
    const { name } = scenario
    if (scenario.runAt === undefined || options.only?.includes(name) === false) continue
    try {
      for (const row of await scenario.runAt(context, { url, apiToken }))
        outcome.findings.push({ ...row, scenario: name, database: 'sqlite', bare: true, met: isMet(row) })
      outcome.measured.push(name)
    } catch (error) {
      outcome.failures.push(`${name} at ${url}: ${reasonOf(error)}`)
    }
  }
  if (outcome.findings.length + outcome.failures.length === 0)
    throw new UsageError(
      `Leave out --only, or name scenarios that work with --url: ${remoteNames.join(', ')}.`,
    )
}

const remoteNames = scenarios.filter((one) => one.runAt !== undefined).map(({ name }) => name)

/** Compares this checkout with another commit, scenario by scenario. */
async function measureAgainst(
  ref: string,
  { only, databases, rounds, quick }: Options,
  parent: string,
  outcome: Outcome,
): Promise<void> {
  const other = await OtherCommit.checkOut(ref, parent)
  for (const database of databases) {
    for (const { name } of scenarios) {
      if (only?.includes(name) === false) continue
      const what = `${name} on ${databaseNames[database]}`
      try {
        const done = await alternate(rounds, {
          base: () => other.measure(name, database, quick),
          twin: () => measureHere(name, database, quick),
        })
        outcome.twins.push(...compareRounds(name, database, done))
        outcome.measured.push(what)
      } catch (error) {
        outcome.failures.push(`${what}: ${reasonOf(error)}`)
      }
    }
  }
}

/** Measures both sides in each round. Which of them is first alternates, so that drift cancels out. */
async function alternate(
  rounds: number,
  { base, twin }: Record<keyof TwinRound, () => Promise<readonly Row[]>>,
): Promise<TwinRound[]> {
  const done: TwinRound[] = []
  for (let round = 0; round < rounds; round += 1) {
    const isTwinFirst = round % 2 === 1
    const first = await (isTwinFirst ? twin() : base())
    const second = await (isTwinFirst ? base() : twin())
    done.push(isTwinFirst ? { base: second, twin: first } : { base: first, twin: second })
  }
  return done
}

/** If PostgreSQL is unavailable, its rows are skipped with a message. If it was requested explicitly, that is a failure. */
async function startOrSkip(options: Options, outcome: Outcome): Promise<PostgresServer | undefined> {
  try {
    return await startPostgres()
  } catch (error) {
    if (!(error instanceof PostgresUnavailable)) throw error
    if (options.databases.length === 1) outcome.failures.push(error.message)
    else {
      progress(`no rows for PostgreSQL: ${error.message}`)
      outcome.notes.push('PostgreSQL was not available')
    }
    return undefined
  }
}

function createContext(
  database: DatabaseKind,
  { quick, curveMs, mixMs }: Options,
  parent: string,
  outcome: Outcome,
  workspace: Context['workspace'],
): Context {
  const omitted = new Set<string>()
  const omit = (what: string, reason: string) => {
    if (!omitted.has(what)) note(`no rows for ${what}: ${reason}`)
    omitted.add(what)
  }
  const note = (text: string) => {
    progress(text)
    outcome.notes.push(text)
  }
  const size = (full: number, small: number) => (quick ? small : full)
  return {
    database,
    workspace,
    async nginx() {
      const nginx = await Nginx.start(parent)
      if (nginx === undefined) omit('nginx', 'there is none on the PATH')
      return nginx
    },
    omit,
    note,
    size,
    measured: { ms: size(4000, 200) },
    warmUp: { ms: size(1500, 50) },
    limitMs: size(500, 50),
    curveMs,
    mixMs: size(mixMs, 1500),
  }
}

/** Rows with one for the memory of their servers, unless they are those of a curve, whose points have it. */
function withPeak(rows: readonly Row[], { bytes }: MemoryPeak): readonly Row[] {
  const first = rows[0]
  if (first === undefined || bytes === 0 || first.point !== undefined) return rows
  const what = 'memory peak of any server of the rows above'
  return [...rows, { what, value: bytes / 1e6, unit: 'MB', target: { atMost: 600 } }]
}

async function report(
  { quick, log, twin, against, json, markdown, out, add, readme, url }: Options,
  outcome: Outcome,
  minutes: number,
): Promise<void> {
  const { findings, twins, failures, notes, measured } = outcome
  const about = [
    url === undefined ? `Carrel ${programVersion()}` : `A server at ${new URL(url).host}`,
    `Node ${process.versions.node}, ${os.availableParallelism()} cores, ${process.platform} ${process.arch}`,
    ...(url === undefined ? [fileSystemOf(os.tmpdir())] : []),
    `log level ${log}`,
    ...(quick ? ['a quick run: the figures mean nothing'] : []),
  ].join('; ')
  const settings = Object.entries(twin ?? {}).map((setting) => setting.join('='))
  const isComparison = twin !== undefined || against !== undefined
  const comparison = twinTable(
    against === undefined ? ['Default', settings.join(' ')] : [against, 'Here'],
    twins,
  )
  process.stdout.write(`${about}\n\n${isComparison ? comparison : plainTable(findings)}`)
  for (const note of notes) process.stdout.write(`\n${note}\n`)
  for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`)
  const table = isComparison ? comparison : markdownTable(findings)
  // Without the stacks, which name folders of the machine.
  const reasons = failures.map((failure) => failure.split('\n', 1).join())
  const run: Run = { date: new Date().toISOString(), about, minutes, measured, notes, failures: reasons }
  if (markdown !== undefined) await write(markdown, `${about}\n\n${table}`)
  if (json !== undefined)
    await write(json, `${JSON.stringify({ ...run, quick, findings, twins }, null, 2)}\n`)
  if (out === undefined) return
  const earlier = add ? await readResults(out) : undefined
  const later: Results = { runs: [run], findings }
  await publish(out, readme, earlier === undefined ? later : mergeResults(earlier, later))
}

/** Writes the files of results that were measured before. */
async function render({ out = '', readme }: Options): Promise<boolean> {
  const results = await readResults(out)
  if (results === undefined) throw new UsageError(`There are no results in ${out}.`)
  await publish(out, readme, results)
  return true
}

async function publish(out: string, readme: string | undefined, results: Results): Promise<void> {
  await writeResults(out, results)
  if (readme !== undefined) await writeReadme(readme, results)
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.resolve(file)), { recursive: true })
  await writeFile(file, text)
}

function removeWhenInterrupted(folder: string): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      // Children exit with this process; until then one may still write there.
      process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
      process.exit(1)
    })
  }
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`)
}

const secondsSince = (began: number) => ((performance.now() - began) / 1000).toFixed(1)

try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n${helpText(scenarios.map(({ name }) => name))}`)
  process.exitCode = 2
}

/** With the error that one during disposal has suppressed. */
function reasonOf(error: unknown): string {
  if (error instanceof SuppressedError) return `${reasonOf(error.suppressed)}\nThen: ${reasonOf(error.error)}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
