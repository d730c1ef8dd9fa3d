import { DatabaseSync } from 'node:sqlite'
import { type BlockId, idFromBytes, idToBytes } from '../../base/objects/index.ts'

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
  readonly #insert = this.#file.prepare('insert or ignore into scratch_id (id) values (?)')
  readonly #find = this.#file.prepare('select 1 from scratch_id where id = ?')
  #size = 0

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

/** A list of blocks whose memory does not grow with it. Each id once. */
export class ScratchBlocks implements Disposable {
  readonly #file = openScratch(
    'create table scratch_block (place text not null, id blob not null, primary key (place, id)) without rowid',
  )
  readonly #insert = this.#file.prepare('insert or ignore into scratch_block (place, id) values (?, ?)')
  readonly #next = this.#file.prepare(
    'select place, id from scratch_block where (place, id) > (?, ?) order by place, id limit ?',
  )
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Blocks are listed in the order of `place`, and then of their ids. */
  add(id: BlockId, place = ''): void {
    this.#size += Number(this.#insert.run(place, idToBytes(id)).changes)
  }

  /** All blocks, in pages. None may be added meanwhile. */
  *pages(size: number): Generator<BlockId[], void> {
    let [place, id]: [string, Uint8Array] = ['', new Uint8Array(0)]
    for (;;) {
      const rows = this.#next.all(place, id, size) as { place: string; id: Uint8Array }[]
      const last = rows.at(-1)
      if (last === undefined) return
      yield rows.map((row) => idFromBytes<BlockId>(row.id))
      place = last.place
      id = last.id
    }
  }

  [Symbol.dispose](): void {
    this.#file.close()
  }
}
