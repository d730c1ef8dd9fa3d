import type { Config } from '../../../base/config/index.ts'
import { inspectDatabase } from '../../../platform/database/index.ts'
import { findFolderProblem, findPostgresProblems, type StorageProblem } from '../../assembly/index.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Checks that flushed data is durable: the file system of the data folder, and the settings of PostgreSQL. */
export async function checkStorage(config: Config): Promise<readonly Finding[]> {
  const folder = await findFolderProblem(config.dataDirectory, config.database.kind)
  const problems = [...(folder ? [folder] : []), ...(await problemsOfDatabase(config))]
  if (problems.length === 0) return [ok('storage', 'keeps what is flushed')]
  return problems.map(({ kind, message, remedy }) =>
    kind === 'unsafe' && config.unsafeStorage === 'refuse'
      ? fail('storage', message, remedy)
      : warn('storage', message, remedy),
  )
}

/** None if the database cannot be reached. `checkDatabase` reports that. */
async function problemsOfDatabase({ database }: Config): Promise<StorageProblem[]> {
  if (database.kind === 'sqlite') return []
  try {
    await using found = await inspectDatabase(database)
    return found === undefined ? [] : await findPostgresProblems(found)
  } catch {
    return []
  }
}
