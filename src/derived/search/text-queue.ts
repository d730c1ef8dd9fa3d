import { BackgroundQueue } from '../../base/scheduling/index.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { LibraryCore } from '../../libraries/library/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { ExtractorUnavailable, type TextExtractor } from '../../platform/extraction/index.ts'
import { bodyParts, normalizeText, packText, unpackText } from './indexed-text.ts'
import { libraryKeyOf } from './keys.ts'
import { PendingSelection, type SelectedText } from './pending-selection.ts'
import {
  claimPending,
  endPending,
  failPending,
  findText,
  nextDue,
  type PendingText,
  postponePending,
  putBodies,
  putText,
} from './text-store.ts'

const AT_ONCE = 2
const FILES_PER_ROUND = 32
// Tokens buffered until they are written.
const ENOUGH_CHARACTERS = 2 ** 21
// Duration of a lease. After it, the file of a dead process is processed again.
const LEASE_SECONDS = 600
const MAX_ATTEMPTS = 3
const FIRST_RETRY_SECONDS = 5
const MAX_REASON = 500

interface TextQueueOptions {
  readonly core: LibraryCore
  /** The database of libraries and commits. */
  readonly libraryDb: Database
  readonly db: Database
  readonly extractor: TextExtractor
  /** Resolves once the tables exist. */
  readonly prepare: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/** The result of one extraction. */
type Outcome =
  | { readonly pending: PendingText; readonly body: Uint8Array; readonly parts: readonly string[] }
  | { readonly pending: PendingText; readonly reason: string }
  | { readonly pending: PendingText; readonly error: unknown }

/** Extracts the texts of queued files, a few at a time, and indexes them. */
export class TextQueue {
  readonly #options: TextQueueOptions
  readonly #selection: PendingSelection
  readonly #queue: BackgroundQueue

  constructor(options: TextQueueOptions) {
    this.#options = options
    this.#selection = new PendingSelection(options.db, options.libraryDb)
    this.#queue = new BackgroundQueue({
      processBatch: () => this.#round(),
      secondsUntilDue: async () => {
        const due = await nextDue(options.db)
        return due === undefined ? undefined : due - options.core.now()
      },
      maxPauseSeconds: LEASE_SECONDS,
      onError: options.onError,
    })
  }

  /** Called when files may have been queued. */
  wake(): void {
    this.#queue.wake()
  }

  /** Resolves once nothing is due. */
  settled(): Promise<void> {
    return this.#queue.settled()
  }

  stop(): Promise<void> {
    return this.#queue.stop()
  }

  /** Leases and processes a batch of files. Returns their number. */
  async #round(): Promise<number> {
    // Texts can take more than the space that is left for deleting. They wait.
    if (this.#options.core.growth.diskFault() !== undefined) return 0
    await this.#options.prepare()
    const now = this.#options.core.now()
    const selected = await this.#selection.next(now, FILES_PER_ROUND)
    const until = now + LEASE_SECONDS
    const wanted = selected.map(({ pending }) => pending).toSorted(byKey)
    const claimed = new Set(await this.#claim(wanted, until))
    await this.#readAll(
      selected.filter(({ pending }) => claimed.has(pending)),
      until,
    )
    return claimed.size
  }

  #claim(wanted: readonly PendingText[], until: number): Promise<PendingText[]> {
    if (wanted.length === 0) return Promise.resolve([])
    return this.#options.db.write(
      async (tx) => {
        const taken: PendingText[] = []
        for (const pending of wanted) if (await claimPending(tx, pending, until)) taken.push(pending)
        return taken
      },
      { durable: false },
    )
  }

  async #readAll(taken: readonly SelectedText[], until: number): Promise<void> {
    const waiting = [...taken]
    let done: Outcome[] = []
    let characters = 0
    const flush = async () => {
      const outcomes = done
      done = []
      characters = 0
      await this.#write(outcomes, until)
    }
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const outcome = await this.#read(next)
        done.push(outcome)
        if ('parts' in outcome) for (const part of outcome.parts) characters += part.length
        if (characters > ENOUGH_CHARACTERS) await flush()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    await flush()
  }

  async #read({ pending, ownerKey }: SelectedText): Promise<Outcome> {
    const { db } = this.#options
    try {
      const known = await findText(db, pending)
      if (known !== undefined) {
        const parts = await bodyParts(await unpackText(known), pending.name, db.dialect)
        return { pending, body: known, parts }
      }
      const found = await this.#extract(pending, String(ownerKey))
      if ('reason' in found) return { pending, reason: `The file ${found.reason}.` }
      const text = await normalizeText(found.text)
      return { pending, body: await packText(text), parts: await bodyParts(text, pending.name, db.dialect) }
    } catch (error) {
      return { pending, error }
    }
  }

  #extract({ key, objectId, name, size }: PendingText, owner: string) {
    const { core, extractor } = this.#options
    const read = async function* () {
      const stored = await storesOf(core).content.open(libraryKeyOf(key), objectId)
      // A chunk is valid only until the next one is requested.
      for await (const bytes of stored.read({ start: 0, end: stored.size })) yield Buffer.from(bytes)
    }
    return extractor.extract({ name, size, owner, read }, { signal: this.#queue.signal, key: owner })
  }

  async #write(outcomes: readonly Outcome[], until: number): Promise<void> {
    if (outcomes.length === 0) return
    const { db, core } = this.#options
    const stopping = this.#queue.signal.aborted
    await db.write(
      async (tx) => {
        const read: { key: number; parts: readonly string[] }[] = []
        for (const outcome of outcomes.toSorted((a, b) => byKey(a.pending, b.pending))) {
          const { pending } = outcome
          const retryAt = core.now() + FIRST_RETRY_SECONDS * 4 ** pending.attempts
          if ('parts' in outcome) {
            const isCurrent = await endPending(tx, pending, until)
            if (!isCurrent) continue
            await putText(tx, pending, outcome.body)
            read.push({ key: pending.key, parts: outcome.parts })
          } else if ('reason' in outcome) {
            await failPending(tx, pending, until, outcome.reason.slice(0, MAX_REASON))
          } else if (stopping) await postponePending(tx, pending, until, core.now())
          else if (outcome.error instanceof ExtractorUnavailable)
            // The queue is full, which is not the file's fault.
            await postponePending(tx, pending, until, core.now() + outcome.error.retryAfterSeconds)
          else if (pending.attempts + 1 < MAX_ATTEMPTS) await postponePending(tx, pending, until, retryAt)
          else await failPending(tx, pending, until, reasonOf(outcome.error))
        }
        await putBodies(tx, db.dialect, read)
      },
      { durable: false },
    )
  }
}

// Sorted, so that transactions lock rows in one order (no deadlock).
function byKey(a: PendingText, b: PendingText): number {
  return a.key - b.key
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.toWellFormed().replaceAll('\0', '').slice(0, MAX_REASON)
}
