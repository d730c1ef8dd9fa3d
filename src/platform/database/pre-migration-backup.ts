import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { MigrationBackupError } from './errors.ts'
import { type Logger, silentLogger } from './logger.ts'

/** Older ones are deleted. Each is a whole copy of the database. */
const KEPT = 3
const NAME = /^schema-\d+\.(?:db|sql\.gz)$/
/** Names the copy made before the first step of an upgrade that has not ended. It is kept until then, however often the upgrade is started again. */
const UNFINISHED = 'unfinished-upgrade'

/** The copy made before the first step of an upgrade. */
export interface FirstBackup {
  readonly file: string
  readonly schemaVersion: number
}

/** A database that can be copied to a file. */
interface BackUpSource {
  /** `db` for SQLite, `sql.gz` for PostgreSQL. */
  readonly backupExtension: string
  /** Writes a consistent copy to a new file, and checks that the copy can be read. Throws if it cannot. */
  backUp(file: string, schemaVersion: number): Promise<void>
}

/**
 * Copies the database of schema version `found` to `<directory>/schema-<found>.<extension>` durably. A copy of the
 * same version is replaced: it is of an earlier state of the same schema. Resolves to the copy made before the first step of this upgrade, which may have been interrupted.
 * Throws MigrationBackupError; the database is then unchanged.
 */
export async function backUpBeforeMigration(
  db: BackUpSource,
  found: number,
  directory: string,
  logger: Logger = silentLogger,
): Promise<FirstBackup> {
  const file = path.join(directory, `schema-${found}.${db.backupExtension}`)
  const unfinished = `${file}.unfinished`
  let first: string | undefined
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await rm(unfinished, { force: true })
    await db.backUp(unfinished, found)
    await syncPath(unfinished, 'r+')
    await rename(unfinished, file)
    await syncPath(directory, 'r')
    first = await findUnfinished(directory)
    if (first === undefined) {
      await writeFile(path.join(directory, UNFINISHED), path.basename(file), { mode: 0o600, flush: true })
      await syncPath(directory, 'r')
    } else logger.warn({ first, schemaVersion: found }, 'an upgrade that was interrupted goes on')
    await deleteOldest(directory, first)
  } catch (cause) {
    // Whatever is wrong with the folder is reported by the first error.
    await rm(unfinished, { force: true }).catch(() => {})
    throw new MigrationBackupError(file, cause)
  }
  logger.info({ file, schemaVersion: found }, 'the database was backed up before its migration')
  const name = first ?? path.basename(file)
  return { file: path.join(directory, name), schemaVersion: Number(/\d+/.exec(name)?.[0]) }
}

/** To be called when all steps that can be applied are. */
export async function noteUpgradeFinished(directory: string): Promise<void> {
  await rm(path.join(directory, UNFINISHED), { force: true })
}

async function findUnfinished(directory: string): Promise<string | undefined> {
  const name = await readFile(path.join(directory, UNFINISHED), 'utf8').catch(() => undefined)
  return name !== undefined && NAME.test(name) ? name : undefined
}

async function deleteOldest(directory: string, first: string | undefined): Promise<void> {
  const names = (await readdir(directory)).filter((name) => NAME.test(name) && name !== first)
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
