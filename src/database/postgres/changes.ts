import { Batch, type BatchOutcome, type Prepared } from './batch.ts'
import { Statement } from './statements.ts'

/** More than this many transactions between two looks are not told apart. */
const MOST_COMPARED = 10_000
const MOST_OWN = 10_000

const snapshotQuery = new Statement('select pg_current_snapshot()::text as snapshot')
snapshotQuery.name = 'carrel_snapshot'

/** A transaction of this process. */
export interface OwnTransaction {
  /** What it changed so far; undefined for anything. */
  tables: Set<string> | undefined
  isNoted: boolean
}

/** A connection to look with. */
export interface Watch {
  readonly prepared: Prepared
  query(batch: Batch): unknown
}

/** Which transactions a snapshot shows: all below `end` but those in `open`. */
interface Snapshot {
  readonly text: string
  readonly end: number
  readonly open: ReadonlySet<number>
}

/**
 * When each table last changed, as far as anybody here can have heard of it. The server gives transactions numbers, and
 * tells which of them are over: as long as that is the same, so is everything in the database. Of our own we know what
 * they changed, so that what they did not change is known to be the same too; one of anybody else may have changed all.
 *
 * Times are counted in changes: what was read at a time holds while none of its tables changed later.
 */
export class Changes {
  readonly #connect: () => Promise<Watch>
  readonly #own = new Map<number, OwnTransaction>()
  readonly #tables = new Map<string, number>()
  #all = 0
  #now = 0
  #seen: Snapshot | undefined
  #isFresh = false
  #isLooking = false
  #next: PromiseWithResolvers<void> | undefined

  constructor(connect: () => Promise<Watch>) {
    this.#connect = connect
  }

  get now(): number {
    return this.#now
  }

  /** Whether what has been running since the program last waited began before the last look. */
  get isFresh(): boolean {
    return this.#isFresh
  }

  holds(tables: readonly string[], since: number): boolean {
    if (this.#all > since) return false
    for (const table of tables) if ((this.#tables.get(table) ?? 0) > since) return false
    return true
  }

  /** To be called before a transaction is committed. */
  expect(number: number, transaction: OwnTransaction): void {
    if (this.#own.size >= MOST_OWN) this.#own.clear()
    this.#own.set(number, transaction)
  }

  /** To be called once a transaction of ours is over, before anybody is told. */
  note(transaction: OwnTransaction): void {
    if (transaction.isNoted) return
    transaction.isNoted = true
    this.#now += 1
    if (transaction.tables === undefined) this.#all = this.#now
    else for (const table of transaction.tables) this.#tables.set(table, this.#now)
  }

  noteAll(): void {
    this.#all = ++this.#now
  }

  /**
   * Resolves once all that was over when it was called is noted. The server is asked once for all who call in one turn of the event
   * loop: whatever a turn works on had arrived when it began.
   */
  look(): Promise<void> {
    if (this.#next === undefined) {
      this.#next = Promise.withResolvers()
      if (!this.#isLooking) setImmediate(this.#begin)
    }
    return this.#next.promise
  }

  readonly #begin = (): void => {
    const waiting = this.#next
    if (waiting === undefined) return
    this.#next = undefined
    this.#isLooking = true
    void this.#ask().then((outcome) => {
      this.#isLooking = false
      this.#take(outcome)
      this.#isFresh = true
      // After all that goes on without waiting now that it knows.
      process.nextTick(this.#wait)
      waiting.resolve()
      if (this.#next !== undefined) setImmediate(this.#begin)
    })
  }

  readonly #wait = (): void => {
    this.#isFresh = false
  }

  async #ask(): Promise<BatchOutcome> {
    try {
      return await Batch.run(await this.#connect(), [{ statement: snapshotQuery, values: [] }])
    } catch (error) {
      return { outcomes: [], error }
    }
  }

  #take({ outcomes }: BatchOutcome): void {
    const text = outcomes[0]?.rows[0]?.snapshot
    // Whoever reads anew is told what is wrong with the server.
    if (typeof text !== 'string') {
      this.#seen = undefined
      this.noteAll()
      return
    }
    const before = this.#seen
    if (before?.text === text) return
    this.#seen = snapshotOf(text)
    if (before === undefined || this.#seen.end - before.end > MOST_COMPARED) this.noteAll()
    else for (const number of endedBetween(before, this.#seen)) this.#noteEnd(number)
  }

  #noteEnd(number: number): void {
    const own = this.#own.get(number)
    if (own === undefined) return this.noteAll()
    this.#own.delete(number)
    this.note(own)
  }
}

function snapshotOf(text: string): Snapshot {
  const [, end, open = ''] = text.split(':')
  return { text, end: Number(end), open: new Set(open === '' ? [] : open.split(',').map(Number)) }
}

function* endedBetween(before: Snapshot, after: Snapshot): Generator<number> {
  for (const number of before.open) if (!after.open.has(number)) yield number
  for (let number = before.end; number < after.end; number++) if (!after.open.has(number)) yield number
}
