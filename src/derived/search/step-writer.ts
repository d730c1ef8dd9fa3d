import { randomInt } from 'node:crypto'
import type { CommitId, FileId } from '../../base/objects/index.ts'
import type { DerivedRows } from '../../libraries/consumers/index.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import {
  type Entry,
  insertEntries,
  type PreparedEntry,
  prepareEntry,
  removeEntries,
  replaceEntry,
  updateEntry,
} from './entry-store.ts'
import { entryKey } from './keys.ts'
import { claimPosition, movePosition, type Position, putPosition, resetPosition } from './position-store.ts'
import { putPending, removeTexts } from './text-store.ts'

// Maximum rows per transaction, so that other writers do not wait long.
const ROWS_PER_WRITE = 1000

/** Another process moved the position during a step. Unwritten changes are dropped. */
export class StepConflict extends Error {
  override name = 'StepLost'
}

interface StepOptions {
  readonly db: Database
  readonly libraryKey: number
  readonly stood: Position | undefined
  /** Unix seconds. */
  readonly now: () => number
  /** Aborts a multi-transaction step between two transactions. */
  readonly signal: AbortSignal
  /** Throws if the library was deleted meanwhile. */
  readonly refuseGone: () => Promise<void>
  /** Whether the text of a file is to be extracted. */
  readonly hasText: (entry: Entry) => boolean
}

/**
 * Writes the changes of consecutive commits. A step too large for one transaction is written in several, under a
 * lease. An interrupted step is detected by its lease, and the library is then reindexed.
 */
export class StepWriter {
  readonly #options: StepOptions
  readonly #claim = randomInt(1, 2 ** 31)
  readonly #from: number
  #heldClaim = 0
  #nextNumber: number
  #removed: number[] = []
  #renamed: PreparedEntry[] = []
  #updated: Entry[] = []
  #textless: number[] = []
  #pending: { key: number; objectId: FileId }[] = []
  #added: PreparedEntry[] = []
  /** Whether texts wait for extraction once this is written. */
  hasPending = false

  constructor(options: StepOptions) {
    this.#options = options
    this.#from = options.stood?.seq ?? 0
    this.#nextNumber = this.#from === 0 ? 1 : (options.stood?.nextNumber ?? 1)
  }

  newKey(): number {
    return entryKey(this.#options.libraryKey, this.#nextNumber++)
  }

  async remove(keys: readonly number[]): Promise<void> {
    this.#removed.push(...keys)
    await this.#flushIfLarge()
  }

  async add(entry: Entry): Promise<void> {
    this.#added.push(prepareEntry(entry))
    if (this.#options.hasText(entry)) this.#queue(entry)
    await this.#flushIfLarge()
  }

  /** The entry was renamed, and possibly moved. */
  async rename(entry: Entry): Promise<void> {
    this.#renamed.push(prepareEntry(entry))
    // Texts are indexed together with the name.
    if (this.#options.hasText(entry)) this.#queue(entry)
    else if (!entry.isDir) this.#textless.push(entry.key)
    await this.#flushIfLarge()
  }

  /** The entry has another parent, mtime or content. */
  async update(entry: Entry, isNewContent: boolean): Promise<void> {
    this.#updated.push(entry)
    if (isNewContent) {
      this.#textless.push(entry.key)
      if (this.#options.hasText(entry)) this.#queue(entry)
    }
    await this.#flushIfLarge()
  }

  /** The row of the library once a step is written. */
  positionAt(seq: number, commitId: CommitId): Position {
    const { libraryKey } = this.#options
    return { libraryKey, seq, commitId, nextNumber: this.#nextNumber, claim: 0, claimedAt: 0 }
  }

  /** All changes and the new position, to be written by the caller. Undefined if some were written before. */
  last(to: number, commitId: CommitId): DerivedRows | undefined {
    if (this.#heldClaim !== 0) return undefined
    return { move: (tx) => this.#move(tx, to, commitId), write: (tx) => this.#writeChanges(tx) }
  }

  /** Writes the remaining changes and the new position. Throws StepConflict. */
  async finish(to: number, commitId: CommitId): Promise<void> {
    await this.#write((tx) => this.#move(tx, to, commitId))
  }

  async #move(tx: Transaction, to: number, commitId: CommitId): Promise<boolean> {
    const { libraryKey } = this.#options
    if (this.#from === 0) await putPosition(tx, libraryKey)
    const heldClaim = this.#heldClaim
    const step = { libraryKey, from: this.#from, heldClaim, to, commitId, nextNumber: this.#nextNumber }
    return movePosition(tx, step)
  }

  /** Aborts a step. A partially written library is reindexed. */
  async abandon(): Promise<void> {
    const { db, libraryKey } = this.#options
    const claim = this.#heldClaim
    if (claim === 0) return
    await db.write((tx) => resetPosition(tx, { libraryKey, seq: this.#from, claim }), { durable: false })
  }

  /** Flushes the changes so far. Throws StepConflict. */
  async flush(): Promise<void> {
    this.#options.signal.throwIfAborted()
    const { libraryKey, now, refuseGone } = this.#options
    await refuseGone()
    await this.#write(async (tx) => {
      if (this.#from === 0) await putPosition(tx, libraryKey)
      const step = {
        libraryKey,
        from: this.#from,
        heldClaim: this.#heldClaim,
        claim: this.#claim,
        now: now(),
      }
      return claimPosition(tx, step)
      // The end of the step relies on it.
    }, 'replicated')
    this.#heldClaim = this.#claim
  }

  #queue(entry: Entry): void {
    this.#pending.push({ key: entry.key, objectId: entry.objectId as FileId })
    this.hasPending = true
  }

  async #flushIfLarge(): Promise<void> {
    const rows = this.#removed.length + this.#renamed.length + this.#updated.length + this.#added.length
    if (rows >= ROWS_PER_WRITE) await this.flush()
  }

  // Deletions first: another entry may have the same path now.
  async #writeChanges(tx: Transaction): Promise<void> {
    const { db, now } = this.#options
    const { dialect } = db
    if (this.#removed.length > 0) await removeEntries(tx, dialect, this.#removed)
    // In ascending row order: FTS5 starts a new segment for each row id lower than the previous one.
    for (const entry of this.#renamed.toSorted((a, b) => b.entry.key - a.entry.key))
      await replaceEntry(tx, dialect, entry)
    await Promise.all(this.#updated.map((entry) => updateEntry(tx, entry)))
    await removeTexts(tx, dialect, this.#textless)
    if (this.#added.length > 0) await insertEntries(tx, dialect, this.#added)
    await putPending(tx, dialect, this.#pending, now())
  }

  async #write(
    move: (tx: Transaction) => Promise<boolean>,
    durable: false | 'replicated' = false,
  ): Promise<void> {
    const { db, libraryKey } = this.#options
    const written = await db.write(
      async (tx) => {
        if (!(await move(tx))) return false
        await this.#writeChanges(tx)
        return true
      },
      { durable },
    )
    if (!written) throw new StepConflict(`library ${libraryKey} was followed by somebody else`)
    this.#removed = []
    this.#renamed = []
    this.#updated = []
    this.#added = []
    this.#textless = []
    this.#pending = []
  }
}
