import { type Dirent, type DirId, idFromBytes } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { ObjectStore, Tree } from '../../libraries/tree/index.ts'
import type { Database, Value } from '../../platform/database/index.ts'
import type { Snapshot } from './snapshot.ts'
import { ACCOUNTS, LIBRARIES, OBJECTS } from './tables.ts'
import { TemporaryDatabase } from './temporary-database.ts'

const ROWS_PER_TRANSACTION = 2000
const CACHE_BYTES = 32 * 2 ** 20

/**
 * The folders and files of one library of a snapshot. A snapshot has no index of its rows, so those of the library are copied into a temporary SQLite
 * database first. It gets the schema of the snapshot and is migrated, so that a snapshot of an older version can be read.
 */
export class SnapshotTree implements AsyncDisposable {
  readonly db: Database
  /** The key of the library in the snapshot. */
  readonly libraryKey: number
  readonly #root: DirId
  readonly #temporary: TemporaryDatabase
  readonly #objects: ObjectStore

  private constructor(temporary: TemporaryDatabase, library: Readonly<Record<string, Value>>) {
    const { db } = temporary
    this.db = db
    this.#temporary = temporary
    this.libraryKey = Number(library['key'])
    this.#root = idFromBytes<DirId>(library['root'] as Uint8Array)
    this.#objects = new ObjectStore(db, CACHE_BYTES)
  }

  /** `library` is its row in the snapshot. Throws BackupError. */
  static async open(snapshot: Snapshot, library: Readonly<Record<string, Value>>): Promise<SnapshotTree> {
    return new SnapshotTree(
      await TemporaryDatabase.open(snapshot, (db) => copyLibrary(snapshot, db, library)),
      library,
    )
  }

  find(at: LibraryPath): Promise<Dirent | undefined> {
    return new Tree(this.#objects, this.libraryKey, this.#root).find(at)
  }

  /** The entries of a folder. Throws path-not-found. */
  async list(at: LibraryPath): Promise<readonly Dirent[]> {
    return (await new Tree(this.#objects, this.libraryKey, this.#root).getDir(at)).dir.entries
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#temporary[Symbol.asyncDispose]()
  }
}

/** Copies the rows of a library and those that they refer to. */
async function copyLibrary(
  snapshot: Snapshot,
  db: Database,
  library: Readonly<Record<string, Value>>,
): Promise<void> {
  const write = (table: string, columns: readonly string[], rows: readonly Value[][]) =>
    db.write((tx) => tx.insert(table, columns, rows, { ignoreExisting: true }), { durable: false })
  for await (const row of snapshot.records(ACCOUNTS)) {
    if (row['key'] !== library['owner_key']) continue
    const account = { ...row, default_library_key: null }
    await write(ACCOUNTS, Object.keys(account), [Object.values(account)])
  }
  await write(LIBRARIES, Object.keys(library), [Object.values(library)])
  const columns = snapshot.manifest.tables.find(({ name }) => name === OBJECTS)?.columns ?? []
  const keyAt = columns.indexOf('library_key')
  let waiting: Value[][] = []
  for await (const page of snapshot.rows(OBJECTS)) {
    for (const row of page) if (row[keyAt] === library['key']) waiting.push(row)
    if (waiting.length < ROWS_PER_TRANSACTION) continue
    await write(OBJECTS, columns, waiting)
    waiting = []
  }
  if (waiting.length > 0) await write(OBJECTS, columns, waiting)
}
