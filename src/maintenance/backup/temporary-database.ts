import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type Database, knownSchemaVersion, openDatabase } from '../../platform/database/index.ts'
import type { Snapshot } from './snapshot.ts'
import { BackupError } from './target.ts'

/** Rows of a snapshot in a temporary SQLite database, because a snapshot has no index of its rows. Deleted when disposed. */
export class TemporaryDatabase implements AsyncDisposable {
  readonly db: Database
  readonly #folder: string

  private constructor(db: Database, folder: string) {
    this.db = db
    this.#folder = folder
  }

  /**
   * The database gets the schema of the snapshot, is filled by `fill`, and is migrated, so that a snapshot of an older version can be read. Throws BackupError.
   */
  static async open(
    { manifest }: Snapshot,
    fill: (db: Database) => Promise<void>,
  ): Promise<TemporaryDatabase> {
    if (manifest.schemaVersion > knownSchemaVersion) {
      throw new BackupError(
        `The snapshot ${manifest.id} was made by version ${manifest.version} of Carrel, which is newer than this one: use that version.`,
      )
    }
    const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-restore-'))
    try {
      const setting = { kind: 'sqlite' as const, file: path.join(folder, 'snapshot.db') }
      {
        await using db = await openDatabase(setting, {
          onFatal: temporaryFailed,
          upToVersion: manifest.schemaVersion,
        })
        await fill(db)
      }
      return new TemporaryDatabase(await openDatabase(setting, { onFatal: temporaryFailed }), folder)
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.db[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

function temporaryFailed(error: Error): never {
  throw new BackupError(
    'The temporary database of the restore cannot be written: free space in the temporary folder, or name another with TMPDIR.',
    { cause: error },
  )
}
