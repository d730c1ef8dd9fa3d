import type { RowCache } from '../row-cache.ts'
import type { Outcome, Step } from './batch.ts'
import { Statement } from './statements.ts'

/** If more transactions ended between two snapshots, they are not looked up. */
const MAX_COMPARED = 10_000

const LATELY_MS = 2000

const SNAPSHOT = 'pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as server'

const snapshotOnly = Statement.named('carrel_snapshot', `select ${SNAPSHOT}`)
// Snapshot and receipts are those of one moment, because it is one statement.
const snapshotWithChanges = Statement.named(
  'carrel_snapshot_changes',
  `select ${SNAPSHOT}, count(distinct number) as receipts, string_agg(distinct tables, ',') as tables
   from committed_transaction where number >= $1 or number = any ($2::bigint[])`,
)

/** A transaction of this process. */
export interface OwnTransaction {
  /** The tables it has changed so far. Undefined for any. */
  tables: Set<string> | undefined
}

/** The transactions a snapshot shows: all below `end` but those in `open`. */
interface Snapshot {
  readonly text: string
  readonly end: number
  readonly open: ReadonlySet<number>
  /** This run of the server. */
  readonly server: string
}

/**
 * Invalidates the row cache when a snapshot of the server shows newly ended transactions. An unchanged snapshot means unchanged rows. The receipt of a
 * transaction names the tables it changed, on any node, and only those are invalidated. A transaction without a receipt invalidates the whole cache: it was
 * rolled back, or belongs to another program, an older node or another database of the server.
 *
 * Transaction numbers mean something on one run of one server only. After a failover or a restore the same number can stand for something else, and the
 * same snapshot for other rows: `reset` has to be called for each new connection.
 */
export class Snapshots {
  readonly #cache: RowCache
  readonly #hasReceipts: () => boolean
  readonly #changedAt = new Map<string, number>()
  #last: Snapshot | undefined

  constructor(cache: RowCache, hasReceipts: () => boolean) {
    this.#cache = cache
    this.#hasReceipts = hasReceipts
  }

  /** To be called when the connection that takes snapshots is a new one, before its first snapshot. */
  reset(): void {
    this.#last = undefined
    this.#cache.invalidateAll()
  }

  /** To be called once a transaction of our own has ended, before its caller goes on. */
  ended({ tables }: OwnTransaction): void {
    if (tables === undefined) this.#cache.invalidateAll()
    else if (tables.size > 0) this.#cache.invalidate(tables)
  }

  /** The statement that takes the next snapshot. Its outcome is to be given to `see` before the next one is sent. */
  step(): Step {
    const { end, open } = this.#last ?? {}
    if (end === undefined || !this.#hasReceipts()) return { statement: snapshotOnly, values: [] }
    return { statement: snapshotWithChanges, values: [end, `{${[...(open ?? [])].join(',')}}`] }
  }

  /** Takes in a snapshot of the server, undefined if it could not be asked. */
  see(outcome: Outcome | undefined): void {
    const before = this.#last
    const row = outcome?.rows[0]
    this.#last = row && snapshotOf(String(row.snapshot), String(row.server))
    const now = this.#last
    if (before === undefined || now === undefined || now.server !== before.server) {
      this.#cache.invalidateAll()
      return
    }
    if (now.text === before.text) return
    const ended = now.end - before.end > MAX_COMPARED ? MAX_COMPARED : countEnded(before, now)
    if (ended === 0) return
    const tables = typeof row?.tables === 'string' ? row.tables.split(',') : []
    if (row?.receipts !== ended || tables.includes('*')) this.#cache.invalidateAll()
    else this.#invalidate(tables)
  }

  /** Whether other transactions have changed one of the tables lately, and probably will again before the next read. */
  changedLately(tables: readonly string[]): boolean {
    const since = performance.now() - LATELY_MS
    return tables.some((table) => (this.#changedAt.get(table) ?? Number.NEGATIVE_INFINITY) > since)
  }

  #invalidate(tables: readonly string[]): void {
    this.#cache.invalidate(tables)
    for (const table of tables) this.#changedAt.set(table, performance.now())
  }
}

function snapshotOf(text: string, server: string): Snapshot {
  const [, end, open = ''] = text.split(':')
  return { text, end: Number(end), open: new Set(open === '' ? [] : open.split(',').map(Number)), server }
}

function countEnded(before: Snapshot, after: Snapshot): number {
  let count = 0
  for (const id of before.open) if (!after.open.has(id)) count += 1
  for (let id = before.end; id < after.end; id++) if (!after.open.has(id)) count += 1
  return count
}
