import { PostgresUnavailable, startPostgres } from '../support/postgres.ts'
import { MutationCopy, type Verdict } from './mutate.ts'
import { SAFEGUARDS, type Safeguard } from './safeguards.ts'

// `npm run test:mutation`: disables every safeguard in turn and demands that its tests fail. `-- TEXT` runs those whose name,
// invariant or file contains the text; `--markdown` prints the table of docs/reliability.md; `--jobs N` sets the copies at work.

/**
 * Tests with a disabled safeguard may take this many times as long as on the unchanged sources, plus MIN_DEADLINE_MS, before they count as hanging. A
 * busy machine slows both down.
 */
const DEADLINE_FACTOR = 4
const MIN_DEADLINE_MS = 60_000
/** For a file that another copy is still running unchanged. */
const UNKNOWN_MS = 200_000

interface Options {
  readonly chosen: readonly Safeguard[]
  readonly jobs: number
  readonly isMarkdown: boolean
}

function readOptions(args: readonly string[]): Options {
  const jobsAt = args.indexOf('--jobs')
  const texts = args.filter((arg, at) => !arg.startsWith('--') && (jobsAt === -1 || at !== jobsAt + 1))
  const chosen = SAFEGUARDS.filter(({ invariant, name, file }) =>
    texts.every((text) => invariant === text || name.includes(text) || file.includes(text)),
  )
  return {
    chosen,
    jobs: jobsAt === -1 ? 2 : Number(args[jobsAt + 1]),
    isMarkdown: args.includes('--markdown'),
  }
}

async function main(): Promise<boolean> {
  const { chosen, jobs, isMarkdown } = readOptions(process.argv.slice(2))
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort())
  await using _postgres = await sharedPostgres()
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))]
  console.log(`${chosen.length} safeguards, ${files.length} test files. First, the tests as they are:`)
  const verdicts: Verdict[] = []
  const queue = [...chosen]
  const tests = [...files]
  const red: string[] = []
  const took = new Map<string, number>()
  const deadlineOf = (safeguard: Safeguard) =>
    safeguard.tests.reduce(
      (sum, file) => sum + (took.get(file) ?? UNKNOWN_MS) * DEADLINE_FACTOR,
      MIN_DEADLINE_MS,
    )
  const work = async () => {
    using copy = new MutationCopy()
    for (let file = tests.shift(); file !== undefined; file = tests.shift()) {
      const startedAt = performance.now()
      const failure = await copy.failureOf([file], stopping.signal)
      took.set(file, performance.now() - startedAt)
      if (failure !== undefined) red.push(`${file}: ${failure}`)
    }
    for (let one = queue.shift(); one !== undefined && red.length === 0; one = queue.shift()) {
      const verdict = await copy.verdictOf(one, stopping.signal, deadlineOf(one))
      verdicts.push(verdict)
      const sign = verdict.outcome === 'noticed' ? '✔' : '✖'
      console.log(
        `${sign} ${one.invariant.padEnd(3)} ${one.name}: ${verdict.outcome} (${verdict.seconds.toFixed(1)} s) ${verdict.by}`,
      )
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, files.length) }, work))
  if (red.length > 0) {
    console.log(`These tests fail without any change, so nothing can be learnt:\n${red.join('\n')}`)
    return false
  }
  const missed = verdicts.filter(({ outcome }) => outcome !== 'noticed')
  if (isMarkdown) console.log(markdown(chosen, verdicts))
  console.log(`\n${verdicts.length - missed.length} of ${verdicts.length} noticed.`)
  return missed.length === 0 && verdicts.length === chosen.length
}

function markdown(chosen: readonly Safeguard[], verdicts: readonly Verdict[]): string {
  const rows = chosen.map((safeguard) => {
    const found = verdicts.find((verdict) => verdict.safeguard === safeguard)
    return `| ${safeguard.invariant} | ${safeguard.name} | ${found?.outcome === 'noticed' ? found.by : 'not noticed'} |`
  })
  return ['\n| # | Disabled safeguard | The test that noticed |', '| --- | --- | --- |', ...rows].join('\n')
}

async function sharedPostgres(): Promise<AsyncDisposable | undefined> {
  if (process.env['CARREL_TEST_POSTGRES']) return undefined
  try {
    const server = await startPostgres({ fsync: false })
    process.env['CARREL_TEST_POSTGRES'] = server.adminUrl
    return server
  } catch (error) {
    if (!(error instanceof PostgresUnavailable)) throw error
    console.log(`PostgreSQL: none (${error.message}).`)
    return undefined
  }
}

process.exitCode = (await main()) ? 0 : 1
