import type { RowCache } from '../row-cache.ts'

/** If more transactions ended between two snapshots, they are not looked at one by one. */
const MAX_COMPARED = 10_000
const MAX_OWN = 10_000

/** A transaction of this process. */
export interface OwnTransaction {
  /** The tables it has changed so far. Undefined for any. */
  tables: Set<string> | undefined
  isInvalidated: boolean
}

/** The transactions a snapshot shows: all below `end` but those in `open`. */
interface Snapshot {
  readonly text: string
  readonly end: number
  readonly open: ReadonlySet<number>
}

/**
 * Invalidates the row cache as snapshots of the server show that transactions have ended. While the snapshot is the same, so is every
 * row. A transaction of our own invalidates the tables it changed, one of anybody else everything.
 *
 * Transaction ids mean something on one server only. After a failover or a restore the same id can stand for something else, and the
 * same snapshot for other rows: `reset` has to be called for each new connection.
 */
export class Snapshots {
  readonly #cache: RowCache
  readonly #own = new Map<number, OwnTransaction>()
  #last: Snapshot | undefined

  constructor(cache: RowCache) {
    this.#cache = cache
  }

  /** To be called when the connection that takes snapshots is a new one, before its first snapshot. */
  reset(): void {
    this.#own.clear()
    this.#last = undefined
    this.#cache.invalidateAll()
  }

  /** To be called with the id of a transaction of our own before it is committed. */
  expect(id: number, transaction: OwnTransaction): void {
    if (this.#own.size >= MAX_OWN) this.#own.clear()
    this.#own.set(id, transaction)
  }

  /** To be called once a transaction of our own has ended, before its caller goes on. */
  ended(transaction: OwnTransaction): void {
    if (transaction.isInvalidated) return
    transaction.isInvalidated = true
    if (transaction.tables === undefined) this.#cache.invalidateAll()
    else if (transaction.tables.size > 0) this.#cache.invalidate(transaction.tables)
  }

  /** Takes in a snapshot of the server, undefined if it could not be asked. In the order in which they were taken. */
  see(text: string | undefined): void {
    const before = this.#last
    if (text !== undefined && text === before?.text) return
    this.#last = text === undefined ? undefined : snapshotOf(text)
    if (before === undefined || this.#last === undefined || this.#last.end - before.end > MAX_COMPARED) {
      this.#cache.invalidateAll()
      return
    }
    for (const id of endedBetween(before, this.#last)) this.#idEnded(id)
  }

  #idEnded(id: number): void {
    const own = this.#own.get(id)
    this.#own.delete(id)
    if (own === undefined) this.#cache.invalidateAll()
    else this.ended(own)
  }
}

function snapshotOf(text: string): Snapshot {
  const [, end, open = ''] = text.split(':')
  return { text, end: Number(end), open: new Set(open === '' ? [] : open.split(',').map(Number)) }
}

function* endedBetween(before: Snapshot, after: Snapshot): Generator<number> {
  for (const id of before.open) if (!after.open.has(id)) yield id
  for (let id = before.end; id < after.end; id++) if (!after.open.has(id)) yield id
}
