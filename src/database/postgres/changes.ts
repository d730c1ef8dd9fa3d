/** More than this many transactions between two looks are not told apart. */
const MOST_COMPARED = 10_000
const MOST_OWN = 10_000
/** Whoever reads on and on without waiting for anything has to, now and then, or nobody else's turn would come. */
const READS_WITHOUT_LOOK = 200

/** A transaction of this process. */
export interface OwnTransaction {
  /** What it changed so far; undefined for anything. */
  tables: Set<string> | undefined
  isNoted: boolean
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
  readonly #own = new Map<number, OwnTransaction>()
  readonly #tables = new Map<string, number>()
  #all = 0
  #now = 0
  #seen: Snapshot | undefined
  #readsLeft = 0

  get now(): number {
    return this.#now
  }

  /**
   * Whether what is running had begun when the server was last looked at: it was waiting for that, so nothing it works on came
   * since. To be asked once for each read.
   */
  takeFresh(): boolean {
    if (this.#readsLeft === 0) return false
    this.#readsLeft -= 1
    return true
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
   * Notes what is over by now: `text` is the server's snapshot, undefined if it could not be asked. Snapshots are to be given in the
   * order they were taken in.
   */
  see(text: string | undefined): void {
    this.#readsLeft = READS_WITHOUT_LOOK
    // After all that goes on without waiting now that it knows.
    process.nextTick(this.#wait)
    if (text === undefined) {
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

  readonly #wait = (): void => {
    this.#readsLeft = 0
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
