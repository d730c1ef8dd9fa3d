import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../database/index.ts'
import { DomainError, fail } from '../errors.ts'
import { consumerPosition } from './consumer-store.ts'
import type { LibraryInfo } from './library-info.ts'
import { findLibraryByKey, findLibraryWithDeleted } from './library-store.ts'

const COMMITS_PER_STEP = 250
// Debounce: commits in quick succession are processed together. While the process is busy, the delay grows.
const WAKE_DELAY_MS = 100
const MAX_DELAY_MS = 2000
const BUSY = 0.5
const MAX_POSITIONS_KEPT = 10_000
// Concurrent libraries in the background, in total and per owner, so that a large library does not delay
// others.
const LIBRARIES_AT_ONCE = 8
const LIBRARIES_OF_ONE_OWNER = 2

interface ConsumerOptions {
  readonly db: Database
  /** The name its positions are stored under. */
  readonly name: string
  /**
   * Processes the commits after `from` up to `wanted`, or fewer if they changed much, and moves the position
   * with writeFollowed. Returns the last processed number; undefined if another process was first.
   */
  readonly step: (library: LibraryInfo, from: number, wanted: number) => Promise<number | undefined>
  /** Reads the position, for consumers that store it with their own data. Default: the consumer's row. */
  readonly position?: (libraryKey: number) => Promise<number>
  /** Called when background processing fails. The next wake or catchUp retries. */
  readonly onError: (error: unknown) => void
}

/**
 * Processes the commits of each library in order, each exactly once, and maintains derived data (I3). It
 * never delays a write. Readers that need current data call `catchUp` first.
 */
export class CommitConsumer {
  readonly #options: ConsumerOptions
  readonly #running = new Map<number, Promise<void>>()
  /** Known positions by library key. */
  readonly #positions = new Map<number, number>()
  readonly #woken = new Map<number, LibraryInfo>()
  /** Libraries whose debounce delay has passed, in processing order. */
  readonly #due = new Map<number, LibraryInfo>()
  /** Libraries being processed in the background, with their owners. */
  readonly #busy = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: ConsumerOptions) {
    this.#options = options
  }

  /** Schedules background processing of a library. */
  wake(library: LibraryInfo): void {
    if (this.#stopped) return
    this.#woken.set(library.key, library)
    this.#timer ??= this.#wait(MAX_DELAY_MS)
  }

  /**
   * Resolves once every commit up to the library's head is processed. Throws library-not-found if it is
   * purged.
   */
  async catchUp(library: LibraryInfo): Promise<void> {
    while ((this.#positions.get(library.key) ?? 0) < library.headSeq) {
      const running = this.#running.get(library.key)
      await (running ?? this.#start(library))
    }
  }

  /**
   * Invalidates the known positions, for example after derived data was deleted. The next catchUp reads them
   * again.
   */
  invalidate(libraryKey?: number): void {
    if (libraryKey === undefined) this.#positions.clear()
    else this.#positions.delete(libraryKey)
  }

  /** Resolves when the library is not being processed. Errors are reported to the callers of catchUp. */
  async ended(libraryKey: number): Promise<void> {
    await this.#running.get(libraryKey)?.catch(() => {})
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await Promise.allSettled(this.#running.values())
  }

  #wait(longestMs: number): NodeJS.Timeout {
    const began = performance.eventLoopUtilization()
    const onTime = () => {
      const isBusy = performance.eventLoopUtilization(began).utilization > BUSY
      const leftMs = longestMs - WAKE_DELAY_MS
      if (isBusy && leftMs > 0) this.#timer = this.#wait(leftMs)
      else this.#followWoken()
    }
    return setTimeout(onTime, WAKE_DELAY_MS).unref()
  }

  #followWoken(): void {
    this.#timer = undefined
    for (const [key, library] of this.#woken) this.#due.set(key, library)
    this.#woken.clear()
    this.#followDue()
  }

  #followDue(): void {
    for (const [key, library] of this.#due) {
      if (this.#stopped || this.#busy.size >= LIBRARIES_AT_ONCE) return
      const owners = [...this.#busy.values()].filter((owner) => owner === library.ownerKey)
      if (this.#busy.has(key) || owners.length >= LIBRARIES_OF_ONE_OWNER) continue
      this.#due.delete(key)
      this.#busy.set(key, library.ownerKey)
      void this.#followBehind(library).finally(() => {
        this.#busy.delete(key)
        this.#followDue()
      })
    }
  }

  async #followBehind(library: LibraryInfo): Promise<void> {
    try {
      // A library deleted or purged meanwhile is skipped. It is processed after a restore, when it is next
      // read.
      const current = await findLibraryByKey(this.#options.db, library.key)
      if (current !== undefined && !this.#stopped) await this.catchUp(library)
    } catch (error) {
      if (!this.#stopped && !isGone(error)) this.#options.onError(error)
    }
  }

  #start(library: LibraryInfo): Promise<void> {
    const running = this.#follow(library).finally(() => this.#running.delete(library.key))
    this.#running.set(library.key, running)
    return running
  }

  async #follow(library: LibraryInfo): Promise<void> {
    const { db, name, step } = this.#options
    const position = this.#options.position ?? ((key) => consumerPosition(db, key, name))
    let seq = await position(library.key)
    while (seq < library.headSeq && !this.#stopped) {
      await refusePurged(db, library)
      const reached = await step(library, seq, Math.min(seq + COMMITS_PER_STEP, library.headSeq))
      // If another process was first, its position is authoritative.
      seq = reached ?? (await position(library.key))
      await nextTurn()
    }
    if (this.#stopped && seq < library.headSeq) throw new Error(`the consumer ${name} is stopping`)
    this.#positions.delete(library.key)
    this.#positions.set(library.key, seq)
    for (const key of this.#positions.keys()) {
      if (this.#positions.size <= MAX_POSITIONS_KEPT) break
      this.#positions.delete(key)
    }
  }
}

/** Throws library-not-found for a library that is purged, or being purged. */
async function refusePurged(db: Database, { key, id }: LibraryInfo): Promise<void> {
  if ((await findLibraryWithDeleted(db, key)) === undefined) fail({ code: 'library-not-found', id })
}

/** Throws library-not-found for a library that is deleted or purged, for consumers that stop at deletion. */
export async function refuseDeleted(db: Database, { key, id }: LibraryInfo): Promise<void> {
  if ((await findLibraryByKey(db, key)) === undefined) fail({ code: 'library-not-found', id })
}

/** Whether the error is that the library was deleted. */
export function isGone(error: unknown): boolean {
  return error instanceof DomainError && error.fault.code === 'library-not-found'
}
