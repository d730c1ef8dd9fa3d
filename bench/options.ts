import path from 'node:path'
import { parseArgs } from 'node:util'
import { published } from './published.ts'
import type { DatabaseKind } from './row.ts'

const MS_PER_MINUTE = 60_000
const CURVE_MINUTES = 15
const MIX_MINUTES = 10

/** Command-line options. */
export interface Options {
  /** Names of scenarios; undefined means all. */
  readonly only: readonly string[] | undefined
  readonly databases: readonly DatabaseKind[]
  readonly quick: boolean
  readonly log: string
  /** Folder for CPU profiles of the servers. */
  readonly profile: string | undefined
  /** Folder in which expensive test data is kept for the next run. */
  readonly keep: string | undefined
  /** Settings of the second server of a comparison; undefined for a plain run. */
  readonly twin: Readonly<Record<string, string>> | undefined
  /** A commit that this checkout is compared with; undefined for a plain run. */
  readonly against: string | undefined
  /** Rounds of a comparison. */
  readonly rounds: number
  readonly json: string | undefined
  readonly markdown: string | undefined
  /** Folder for JSON, Markdown and plots. */
  readonly out: string | undefined
  /** Keeps results of other scenarios that are in that folder. */
  readonly add: boolean
  /** README whose table of ratios is replaced. */
  readonly readme: string | undefined
  /** Writes the files of the results in `out` anew and measures nothing. */
  readonly render: boolean
  /** Scenarios with their databases in the order they run, instead of all on each database. */
  readonly plan: readonly (readonly [DatabaseKind, string])[] | undefined
  /** No scenario of a plan begins later. */
  readonly totalMs: number
  readonly curveMs: number
  readonly mixMs: number
  /** A server that runs already, instead of servers that are started. */
  readonly url: string | undefined
  readonly help: boolean
}

/** Invalid command line; the message says what is expected. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const databaseChoices: Record<string, readonly DatabaseKind[]> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
}

/** Throws UsageError. */
export function parseOptions(args: readonly string[], scenarioNames: readonly string[]): Options {
  const values = parseFlags(args)
  const only = values.only?.flatMap((names) => names.split(',')).filter((name) => name !== '')
  const unknown = only?.find((name) => !scenarioNames.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`There is no scenario ${unknown}: choose from ${scenarioNames.join(', ')}.`)
  }
  const databases = databaseChoices[values.database]
  if (databases === undefined) throw new UsageError('Set --database to sqlite, postgres or both.')
  const { quick, log, json, markdown, add, render, help } = values
  const isPublished = values.published || render
  const out = values.out ?? (isPublished ? published.folder : undefined)
  const readme = values.readme ?? (isPublished && values.out === undefined ? published.readme : undefined)
  if (out === undefined && (add || readme !== undefined)) throw new UsageError('Set --out as well.')
  if (values.url !== undefined && !/^https?:\/\/[^/]/.test(values.url))
    throw new UsageError('Set --url to an address such as https://files.example.org.')
  const compared = [values.twin, values.against, values.url].filter((value) => value !== undefined)
  if (compared.length > 1) throw new UsageError('Set one of --twin, --against and --url.')
  const url = values.url?.replace(/\/+$/, '')
  const [profile, keep] = [values.profile, values.keep].map((folder) => folder && path.resolve(folder))
  const results = { json, markdown, out, add, readme, render }
  return {
    only,
    databases,
    quick,
    log,
    profile,
    keep,
    ...parseTwin(values),
    against: values.against,
    ...results,
    ...timesOf(values),
    plan: values.published ? published.scenarios : undefined,
    url,
    help,
  }
}

function timesOf({
  published: isPublished,
  ...values
}: Pick<ReturnType<typeof parseFlags>, 'published' | 'minutes' | 'curve-minutes' | 'mix-minutes'>) {
  const msOf = (name: 'minutes' | 'curve-minutes' | 'mix-minutes', usual: number) => {
    const minutes = Number(values[name] ?? usual)
    if (!(minutes > 0)) throw new UsageError(`Set --${name} to a number of minutes.`)
    return minutes * MS_PER_MINUTE
  }
  return {
    totalMs: msOf('minutes', isPublished ? published.totalMinutes : Number.POSITIVE_INFINITY),
    curveMs: msOf('curve-minutes', isPublished ? published.curveMinutes : CURVE_MINUTES),
    mixMs: msOf('mix-minutes', isPublished ? published.mixMinutes : MIX_MINUTES),
  }
}

function parseTwin({ twin, rounds }: { twin?: string[] | undefined; rounds: string }) {
  const count = Number(rounds)
  if (!Number.isInteger(count) || count < 1) throw new UsageError('Set --rounds to a whole number from 1.')
  if (twin === undefined) return { twin: undefined, rounds: count }
  const settings = twin.map((text) => /^(CARREL_\w+)=(.*)$/.exec(text))
  if (settings.includes(null)) throw new UsageError('Set --twin to a setting such as CARREL_HTTP=node.')
  return { twin: Object.fromEntries(settings.map((found) => found?.slice(1) ?? [])), rounds: count }
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true },
        database: { type: 'string', default: 'both' },
        quick: { type: 'boolean', default: false },
        log: { type: 'string', default: 'info' },
        profile: { type: 'string' },
        keep: { type: 'string' },
        twin: { type: 'string', multiple: true },
        against: { type: 'string' },
        rounds: { type: 'string', default: '5' },
        json: { type: 'string' },
        markdown: { type: 'string' },
        out: { type: 'string' },
        add: { type: 'boolean', default: false },
        readme: { type: 'string' },
        render: { type: 'boolean', default: false },
        published: { type: 'boolean', default: false },
        minutes: { type: 'string' },
        'curve-minutes': { type: 'string' },
        'mix-minutes': { type: 'string' },
        url: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

export function helpText(scenarioNames: readonly string[]): string {
  return `npm run bench -- [options]

  --only <names>       scenarios, separated by commas: ${scenarioNames.join(', ')}
  --database <kind>    sqlite, postgres or both (the default)
  --quick              small sizes, to check that it runs; the figures are meaningless
  --log <level>        log level of the server (default: info, as in production)
  --profile <folder>   writes a CPU profile of each server there, which slows it down
  --keep <folder>      keeps the SQLite data of search and start there, and reuses that of an earlier run
  --twin <NAME=VALUE>  compares the server with one that has this setting too; may be repeated
  --against <commit>   compares this checkout with a commit, which is built in a temporary clone
  --rounds <number>    rounds of such a comparison, alternating which of the two is first (default: 5)
  --json <file>        also writes the findings as JSON
  --markdown <file>    also writes the table as Markdown
  --out <folder>       also writes results.json, results.md and plots as SVG
  --add                keeps the results of other scenarios in that folder
  --readme <file>      also replaces the table of ratios in a README
  --published          the selection that is published in ${published.folder}, with the table in ${published.readme}
  --render             measures nothing: writes tables and plots of ${published.folder} (or --out) anew
  --minutes <number>   no scenario of a published run begins later (default: ${published.totalMinutes})
  --curve-minutes <n>  time for each curve, which ends at the size that is reached (default: ${CURVE_MINUTES}, published: ${published.curveMinutes})
  --mix-minutes <n>    duration of mix (default: ${MIX_MINUTES}, published: ${published.mixMinutes})
  --url <address>      measures a server that runs already, with the API token in CARREL_CLIENT_TOKEN
`
}
