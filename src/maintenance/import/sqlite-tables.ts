import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ImportError } from './problems.ts'
import { SOURCE_TABLES, type SourceRows, type SourceValue } from './source-rows.ts'

/** `usermgr.db` and `groupmgr.db` are in folders of their own below `ccnet`. */
const MAX_DEPTH = 3

/**
 * Reads the rows of all SQLite databases below a folder: `usermgr.db`, `groupmgr.db`, `seafile.db`, `seahub.db`. They are copied first, with their
 * write-ahead logs, because opening a database may write to it. Throws ImportError.
 */
export async function readSqliteTables(folder: string, rows: SourceRows): Promise<void> {
  const files = await findDatabases(folder, MAX_DEPTH)
  if (files.length === 0) {
    throw new ImportError(
      `There are no databases in ${folder}: name the folder that contains seafile.db, seahub.db and ccnet.`,
    )
  }
  const copies = await mkdtemp(path.join(os.tmpdir(), 'carrel-import-'))
  try {
    for (const [index, file] of files.entries()) {
      const copy = path.join(copies, `${index}.db`)
      await copyFile(file, copy)
      await copyFile(`${file}-wal`, `${copy}-wal`).catch(() => {})
      readDatabase(file, copy, rows)
    }
  } finally {
    await rm(copies, { recursive: true, force: true })
  }
}

async function findDatabases(folder: string, depth: number): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name)
    if (entry.isFile() && /\.(?:db|sqlite3?)$/.test(entry.name)) found.push(file)
    const isData = entry.name === 'storage' || entry.name === 'httptemp'
    if (entry.isDirectory() && depth > 1 && !isData) found.push(...(await findDatabases(file, depth - 1)))
  }
  return found.sort()
}

function readDatabase(file: string, copy: string, rows: SourceRows): void {
  try {
    using db = new DatabaseSync(copy)
    const listing = ['select name', "from sqlite_master where type = 'table'"].join(' ')
    for (const { name } of db.prepare(listing).all() as { name: string }[]) {
      const table = name.toLowerCase()
      if (!SOURCE_TABLES.has(table)) continue
      const everything = ['select *', `from "${name.replaceAll('"', '""')}"`].join(' ')
      for (const row of db.prepare(everything).iterate()) rows.add(table, lowerCased(row))
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ImportError(`The database ${file} cannot be read (${reason}).`, { cause })
  }
}

function lowerCased(row: Record<string, unknown>): Record<string, SourceValue> {
  const entries = Object.entries(row).map(([column, value]): [string, SourceValue] => [
    column.toLowerCase(),
    value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : (value as SourceValue),
  ])
  return Object.fromEntries(entries)
}
