import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { MigrationBackupError } from './errors.ts'
import { type Logger, silentLogger } from './logger.ts'

/** Older ones are deleted. Each is a whole copy of the database. */
const KEPT = 3
const NAME = /^schema-\d+\.(?:db|sql\.gz)$/

/** A database that can be copied to a file. */
interface BackUpSource {
  /** `db` for SQLite, `sql.gz` for PostgreSQL. */
  readonly backupExtension: string
  /** Writes a consistent copy to a new file, and checks that the copy can be read. Throws if it cannot. */
  backUp(file: string, schemaVersion: number): Promise<void>
}

/**
 * Copies the database of schema version `found` to `<directory>/schema-<found>.<extension>` durably and returns that path. A copy of the
 * same version is replaced: it is of an earlier state of the same schema. Throws MigrationBackupError; the database is then unchanged.
 */
export async function backUpBeforeMigration(
  db: BackUpSource,
  found: number,
  directory: string,
  logger: Logger = silentLogger,
): Promise<string> {
  const file = path.join(directory, `schema-${found}.${db.backupExtension}`)
  const unfinished = `${file}.unfinished`
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await rm(unfinished, { force: true })
    await db.backUp(unfinished, found)
    await syncPath(unfinished, 'r+')
    await rename(unfinished, file)
    await syncPath(directory, 'r')
    await deleteOldest(directory)
  } catch (cause) {
    // Whatever is wrong with the folder is reported by the first error.
    await rm(unfinished, { force: true }).catch(() => {})
    throw new MigrationBackupError(file, cause)
  }
  logger.info({ file, schemaVersion: found }, 'the database was backed up before its migration')
  return file
}

async function deleteOldest(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => NAME.test(name))
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(directory, name)
      return { file, modified: (await stat(file)).mtimeMs }
    }),
  )
  files.sort((a, b) => b.modified - a.modified)
  for (const { file } of files.slice(KEPT)) await rm(file)
}

async function syncPath(place: string, flags: 'r' | 'r+'): Promise<void> {
  await using handle = await open(place, flags)
  await handle.sync()
}
