import { DatabaseSync, type StatementSync } from 'node:sqlite'

// Pages of the temporary database that stay in memory: 16 MB.
const CACHE_KIB = 16 * 1024

/** A set of ids in a temporary file, which the system deletes with the process. */
export class SpilledIds implements Disposable {
  readonly #file: DatabaseSync
  readonly #insert: StatementSync
  readonly #find: StatementSync

  constructor() {
    // SQLite creates a private temporary file for an empty name. Losing it in a crash loses a mark that starts again.
    this.#file = new DatabaseSync('')
    this.#file.exec(`pragma journal_mode = off`)
    this.#file.exec(`pragma synchronous = off`)
    this.#file.exec(`pragma cache_size = -${CACHE_KIB}`)
    this.#file.exec('create table spilled_id (id blob primary key) without rowid')
    this.#insert = this.#file.prepare('insert or ignore into spilled_id (id) values (?)')
    this.#find = this.#file.prepare('select 1 from spilled_id where id = ?')
  }

  has(id: Uint8Array): boolean {
    return this.#find.get(id) !== undefined
  }

  /** Sorted ids are faster: neighbours are on the same page. */
  addAll(ids: Iterable<Uint8Array>): void {
    this.#file.exec('begin')
    for (const id of ids) this.#insert.run(id)
    this.#file.exec('commit')
  }

  [Symbol.dispose](): void {
    this.#file.close()
  }
}
