import { DatabaseSync, type StatementSync } from 'node:sqlite'

/** Pages of a temporary database that stay in memory: 8 MB. */
const CACHE_KIB = 8 * 1024

/** A temporary SQLite file, which the system deletes with the process. Losing it in a crash loses a command that is run again. */
export function openScratch(schema: string): DatabaseSync {
  // SQLite creates a private temporary file for an empty name.
  const file = new DatabaseSync('')
  file.exec(
    `pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -${CACHE_KIB}; ${schema}`,
  )
  file.exec('begin')
  return file
}

/** A set of ids whose memory does not grow with it. */
export class ScratchIds implements Disposable {
  readonly #file = openScratch('create table scratch_id (id blob primary key) without rowid')
  readonly #insert: StatementSync
  readonly #find: StatementSync
  #size = 0

  constructor() {
    this.#insert = this.#file.prepare('insert or ignore into scratch_id (id) values (?)')
    this.#find = this.#file.prepare('select 1 from scratch_id where id = ?')
  }

  get size(): number {
    return this.#size
  }

  /** False if the id is in the set already. */
  add(id: Uint8Array): boolean {
    const isNew = this.#insert.run(id).changes === 1
    if (isNew) this.#size += 1
    return isNew
  }

  has(id: Uint8Array): boolean {
    return this.#find.get(id) !== undefined
  }

  [Symbol.dispose](): void {
    this.#file.close()
  }
}
