import type { Database, Transaction } from '../../platform/database/index.ts'
import { type ConsumerMove, moveFollowed, moveTogether } from './consumer-store.ts'

/** How long the rows of a module wait for those of the others. */
const PATIENCE_MS = 200

/** The rows that a module derives from consecutive commits of a library. */
export interface DerivedRows {
  /** Moves a position that the module stores itself. False if another process was first. */
  readonly move?: (tx: Transaction) => Promise<boolean>
  /** Awaits nothing but the transaction, and may be called again after a rollback. */
  readonly write: (tx: Transaction) => Promise<void>
  readonly onWritten?: () => void
}

/** Rows of a module with their place, and the move of its position unless it does that itself. */
interface DerivedWrite extends ConsumerMove {
  readonly db: Database
  readonly rows: DerivedRows
}

/** Rows that are no module's, but are written in the same transaction. */
export interface CompanionRows {
  readonly write: (tx: Transaction) => Promise<void>
  readonly onEnded: (isWritten: boolean) => void
}

/** Offers rows that belong to the newest commits of a library. */
export interface Companion {
  readonly db: Database
  /** Takes the rows that wait. Undefined for none. */
  take(libraryKey: number): CompanionRows | undefined
  /** Called when commits will not be processed soon. */
  onDelay(): void
}

interface Waiting {
  readonly derived: DerivedWrite
  readonly resolve: (isFirst: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Writes what several modules derive from the same commits in one transaction for each database. A module that takes longer than the others writes on
 * its own. If one fails, or another process was first, each is written on its own, so that none depends on another.
 */
export class DerivedTransaction {
  readonly #takeCompanion: ((db: Database) => CompanionRows | undefined) | undefined
  #members = 0
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(takeCompanion?: (db: Database) => CompanionRows | undefined) {
    this.#takeCompanion = takeCompanion
  }

  /** Announces rows. To be followed by calls of `write`, one after another, and by `leave`. */
  join(): void {
    this.#members += 1
  }

  leave(): void {
    this.#members -= 1
    this.#flushIfComplete()
  }

  /** False, without writing, if another process was first. */
  write(derived: DerivedWrite): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ derived, resolve, reject })
      this.#timer ??= setTimeout(() => this.#flush(), PATIENCE_MS)
      this.#flushIfComplete()
    })
  }

  #flushIfComplete(): void {
    if (this.#waiting.length > 0 && this.#waiting.length >= this.#members) this.#flush()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = []
    for (const [db, some] of Map.groupBy(waiting, ({ derived }) => derived.db)) void this.#store(db, some)
  }

  async #store(db: Database, waiting: readonly Waiting[]): Promise<void> {
    const companion = this.#takeCompanion?.(db)
    try {
      const all = waiting.map(({ derived }) => derived)
      if ((waiting.length > 1 || companion !== undefined) && (await storeTogether(db, all, companion))) {
        companion?.onEnded(true)
        for (const { resolve } of waiting) resolve(true)
        return
      }
    } catch {
      // Its reason is found again below, by the one that fails.
    }
    companion?.onEnded(false)
    for (const { derived, resolve, reject } of waiting) await storeAlone(derived).then(resolve, reject)
  }
}

class Rollback extends Error {}

/** Sends everything at once. False, without writing, if a position is another than expected. */
async function storeTogether(
  db: Database,
  derived: readonly DerivedWrite[],
  companion: CompanionRows | undefined,
): Promise<boolean> {
  try {
    await db.write(
      async (tx) => {
        const positions = moveTogether(
          tx,
          derived.filter(({ rows }) => rows.move === undefined),
        )
        const moves = derived.map(({ rows }) => rows.move?.(tx) ?? true)
        // Before the others, so that their inserts follow each other.
        const accompanied = companion?.write(tx)
        const written = derived.map(({ rows }) => rows.write(tx))
        const [moved] = await Promise.all([Promise.all([positions, ...moves]), accompanied, ...written])
        if (moved.includes(false)) throw new Rollback()
      },
      { durable: false },
    )
  } catch (error) {
    if (error instanceof Rollback) return false
    throw error
  }
  for (const { rows } of derived) rows.onWritten?.()
  return true
}

async function storeAlone(derived: DerivedWrite): Promise<boolean> {
  const { db, rows } = derived
  const isFirst = await db.write(
    async (tx) => {
      if (!(await (rows.move?.(tx) ?? moveFollowed(tx, derived)))) return false
      await rows.write(tx)
      return true
    },
    { durable: false },
  )
  if (isFirst) rows.onWritten?.()
  return isFirst
}
