import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { DatabaseError } from '../errors.ts'
import { INCREMENTAL } from './free-pages.ts'

/** The size of a SQLite file before and after it was rewritten, in bytes. */
interface Compacted {
  readonly before: number
  readonly after: number
}

/**
 * Rewrites a SQLite file without free pages and remnants of deleted rows, and with incremental vacuum from then on. Needs as much free space
 * as the file has. VACUUM is one transaction: after a kill the file is as it was. Throws DatabaseError (busy) if another process uses the
 * file. Undefined if there is no such file.
 */
export async function compactSqlite(file: string): Promise<Compacted | undefined> {
  if (!existsSync(file)) return undefined
  const sizeBefore = (await stat(file)).size
  const connection = new DatabaseSync(file, { timeout: 1000 })
  try {
    // In WAL mode a lock on the whole file is held from the first read to the end of the connection.
    connection.exec('pragma locking_mode = exclusive; pragma synchronous = full')
    connection.exec(`${INCREMENTAL}; vacuum`)
    connection.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    const isBusy =
      error instanceof Error && 'errcode' in error && [5, 6].includes(Number(error.errcode) & 0xff)
    const reason = error instanceof Error ? error.message : String(error)
    throw new DatabaseError(isBusy ? 'busy' : 'other', `SQLite: ${reason}`, { cause: error })
  } finally {
    connection.close()
  }
  return { before: sizeBefore, after: (await stat(file)).size }
}
