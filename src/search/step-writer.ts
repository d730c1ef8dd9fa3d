import { randomInt } from 'node:crypto'
import type { Database, Transaction } from '../database/index.ts'
import type { CommitId, FileId } from '../objects/index.ts'
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
import { LetterChanges, listFolded, putLetters } from './letter-store.ts'
import { claimPosition, movePosition, type Position, putPosition, resetPosition } from './position-store.ts'
import { putPending, removeTexts } from './text-store.ts'

// Rows of one transaction: others want to write too.
const ROWS_A_WRITE = 1000

/** Somebody else moved the position while a step was under way; nothing of what is not written is. */
export class StepLost extends Error {
  override name = 'StepLost'
}

interface StepOptions {
  readonly db: Database
  readonly libraryKey: number
  readonly stood: Position | undefined
  /** Unix seconds. */
  readonly now: () => number
  /** Ends a step that is written in parts between two of them. */
  readonly signal: AbortSignal
  /** As signal, for a library that was deleted meanwhile: throws. */
  readonly refuseGone: () => Promise<void>
  /** Whether the text of a file is to be read. */
  readonly hasText: (entry: Entry) => boolean
}

/**
 * Writes what a run of commits changed. A step that is too large for one transaction is written in several, under a
 * claim; one that was broken off is found by its claim, and the library is then indexed anew.
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
  /** Of what was added: noted entry by entry, because for all of them at once it takes a while. */
  #addedLetters = new LetterChanges()
  /** Whether texts are to be read once this is written. */
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
    const prepared = prepareEntry(entry, this.#options.db.dialect)
    this.#added.push(prepared)
    this.#addedLetters.note(prepared.folded, 1)
    if (this.#options.hasText(entry)) this.#queue(entry)
    await this.#flushIfLarge()
  }

  /** The entry has another name, and maybe another place. */
  async rename(entry: Entry): Promise<void> {
    this.#renamed.push(prepareEntry(entry, this.#options.db.dialect))
    // Its text is searched together with its name.
    if (this.#options.hasText(entry)) this.#queue(entry)
    else if (!entry.isDir) this.#textless.push(entry.key)
    await this.#flushIfLarge()
  }

  /** The entry has another place, time or content. */
  async update(entry: Entry, isNewContent: boolean): Promise<void> {
    this.#updated.push(entry)
    if (isNewContent) {
      this.#textless.push(entry.key)
      if (this.#options.hasText(entry)) this.#queue(entry)
    }
    await this.#flushIfLarge()
  }

  /** Writes what is left, and that the library is followed up to this commit. Throws StepLost. */
  async finish(to: number, commitId: CommitId): Promise<void> {
    const { libraryKey } = this.#options
    await this.#write(async (tx) => {
      const heldClaim = this.#heldClaim
      const step = { libraryKey, from: this.#from, heldClaim, to, commitId, nextNumber: this.#nextNumber }
      return movePosition(tx, step)
    })
  }

  /** For a step that ends early: a library of which a part is written is indexed anew. */
  async abandon(): Promise<void> {
    const { db, libraryKey } = this.#options
    const claim = this.#heldClaim
    if (claim === 0) return
    await db.write((tx) => resetPosition(tx, { libraryKey, seq: this.#from, claim }), { durable: false })
  }

  /** Writes all that was handed over so far. Throws StepLost. */
  async flush(): Promise<void> {
    this.#options.signal.throwIfAborted()
    const { libraryKey, now, refuseGone } = this.#options
    await refuseGone()
    await this.#write(async (tx) => {
      const step = {
        libraryKey,
        from: this.#from,
        heldClaim: this.#heldClaim,
        claim: this.#claim,
        now: now(),
      }
      return claimPosition(tx, step)
    })
    this.#heldClaim = this.#claim
  }

  #queue(entry: Entry): void {
    this.#pending.push({ key: entry.key, objectId: entry.objectId as FileId })
    this.hasPending = true
  }

  async #flushIfLarge(): Promise<void> {
    const rows = this.#removed.length + this.#renamed.length + this.#updated.length + this.#added.length
    if (rows >= ROWS_A_WRITE) await this.flush()
  }

  async #countLetters(tx: Transaction): Promise<void> {
    const { db, libraryKey } = this.#options
    const letters = new LetterChanges(this.#addedLetters)
    const named = new Map(this.#renamed.map(({ entry, folded }) => [entry.key, folded]))
    for (const folded of await listFolded(tx, db.dialect, [...this.#removed, ...named.keys()]))
      letters.note(folded, -1)
    for (const key of this.#removed) named.delete(key)
    for (const folded of named.values()) letters.note(folded, 1)
    await putLetters(tx, libraryKey, letters.all)
  }

  // What is gone goes first: something else may have taken its place.
  async #write(move: (tx: Transaction) => Promise<boolean>): Promise<void> {
    const { db, libraryKey, now } = this.#options
    const [removed, renamed, updated, added] = [this.#removed, this.#renamed, this.#updated, this.#added]
    const [textless, pending] = [this.#textless, this.#pending]
    const written = await db.write(
      async (tx) => {
        if (this.#from === 0) await putPosition(tx, libraryKey)
        if (!(await move(tx))) return false
        await this.#countLetters(tx)
        if (removed.length > 0) await removeEntries(tx, db.dialect, removed)
        // By rows of FTS5, which writes a part of its index for each that is lower than the one before.
        for (const entry of renamed.toSorted((a, b) => b.entry.key - a.entry.key))
          await replaceEntry(tx, db.dialect, entry)
        for (const entry of updated) await updateEntry(tx, entry)
        await removeTexts(tx, db.dialect, textless)
        if (added.length > 0) await insertEntries(tx, db.dialect, added)
        await putPending(tx, db.dialect, pending, now())
        return true
      },
      { durable: false },
    )
    if (!written) throw new StepLost(`library ${libraryKey} was followed by somebody else`)
    this.#removed = []
    this.#renamed = []
    this.#updated = []
    this.#added = []
    this.#addedLetters = new LetterChanges()
    this.#textless = []
    this.#pending = []
  }
}
