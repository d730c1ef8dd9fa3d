import type { Config } from '../../base/config/index.ts'
import { lockDataFolder } from '../../platform/data-folder/index.ts'
import { cancelMove, type MoveStep, moveDatabase } from '../assembly/index.ts'
import { checkVersion } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { print } from './output.ts'

const PROGRESS_MS = 5000

/** Moves the rows of a stopped server to another database. A killed run is continued by the next. Resolves to the exit code. */
export async function migrateDatabase(
  source: Config,
  to: Config['database'],
  { json }: { json: boolean },
): Promise<number> {
  await checkVersion(source)
  await using _lock = await lockDataFolder(source.dataDirectory, 'carrel migrate')
  const report = await moveDatabase({ from: source.database, to, onStep: progress(json) })
  const setting = to.kind === 'sqlite' ? 'sqlite' : 'the new address'
  print(json, report, [
    report.isRepeated
      ? 'Everything was copied and compared by an earlier run.'
      : `Copied ${report.rows} rows, and compared all rows of ${report.tables} tables: the databases are equal.`,
    `Set CARREL_DATABASE to ${setting} and start the server. It makes the search index again.`,
    'To go back to the old database as it was, run carrel migrate --cancel with its address. To take along what was changed since, move the data back in the same way.',
  ])
  return 0
}

/** Lets servers use a database that was moved, or is being moved. */
export async function cancelDatabaseMove(config: Config, { json }: { json: boolean }): Promise<number> {
  await checkVersion(config)
  await using _lock = await lockDataFolder(config.dataDirectory, 'carrel migrate')
  if (!(await cancelMove(config.database))) {
    throw new CommandError('The data of this database was not moved: there is nothing to cancel.')
  }
  print(json, { cancelled: true }, [
    'Servers can use this database again, with the data it had before the move.',
  ])
  return 0
}

/** Prints how far a move is, every few seconds. */
function progress(json: boolean): (step: MoveStep) => void {
  let printedAt = performance.now()
  return ({ step, table, rows }) => {
    if (json || performance.now() - printedAt < PROGRESS_MS) return
    printedAt = performance.now()
    process.stderr.write(step === 'copy' ? `Copying ${table}: ${rows} rows.\n` : `Comparing ${table}.\n`)
  }
}
