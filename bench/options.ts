import path from 'node:path'
import { parseArgs } from 'node:util'
import type { DatabaseKind } from './row.ts'

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
  readonly json: string | undefined
  readonly markdown: string | undefined
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
  const { quick, log, json, markdown, help } = values
  const [profile, keep] = [values.profile, values.keep].map((folder) => folder && path.resolve(folder))
  return { only, databases, quick, log, profile, keep, json, markdown, help }
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
        json: { type: 'string' },
        markdown: { type: 'string' },
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
  --json <file>        also writes the findings as JSON
  --markdown <file>    also writes the table as Markdown
`
}
