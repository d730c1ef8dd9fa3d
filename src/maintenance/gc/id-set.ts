import { IdTable } from './id-table.ts'
import { SpilledIds } from './spilled-ids-store.ts'

const ID_BYTES = 20

/**
 * A set of object and block ids in bounded memory. It holds up to `most` ids in a table of 40 bytes per id. When the table is full, they
 * are moved to a temporary file, where a lookup takes some microseconds.
 */
export class IdSet implements Disposable {
  readonly #most: number
  #table = new IdTable()
  #spilled: SpilledIds | undefined

  constructor(most: number) {
    this.#most = most
  }

  get hasSpilled(): boolean {
    return this.#spilled !== undefined
  }

  add(id: Uint8Array, at = 0): void {
    if (!this.#table.add(id, at) || this.#table.size < this.#most) return
    this.#spilled ??= new SpilledIds()
    this.#spilled.addAll(this.#table.sorted())
    this.#table = new IdTable()
  }

  has(id: Uint8Array): boolean {
    return this.#table.has(id) || (this.#spilled?.has(id.subarray(0, ID_BYTES)) ?? false)
  }

  [Symbol.dispose](): void {
    this.#spilled?.[Symbol.dispose]()
  }
}
