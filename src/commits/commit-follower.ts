import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../database/index.ts'
import { DomainError, fail } from '../errors.ts'
import { followedSeq } from './follower-store.ts'
import type { LibraryInfo } from './library-info.ts'
import { findLibraryByKey, findLibraryWithDeleted } from './library-store.ts'

const COMMITS_A_STEP = 250
// Commits that come in quick succession are followed together, and while the process is busy answering, for longer.
const WAKE_DELAY_MS = 100
const LONGEST_DELAY_MS = 2000
const BUSY = 0.5
const MOST_POSITIONS_KEPT = 10_000
// Libraries followed side by side in the background, and those of one owner among them: a large one holds up no other.
const LIBRARIES_AT_ONCE = 8
const LIBRARIES_OF_ONE_OWNER = 2

export interface FollowerOptions {
  readonly db: Database
  /** The name its positions are kept under. */
  readonly name: string
  /**
   * Follows the commits after `from` up to `wanted`, or fewer if they changed much, and moves the position with
   * writeFollowed. Gives the last it followed; undefined if another process was first.
   */
  readonly step: (library: LibraryInfo, from: number, wanted: number) => Promise<number | undefined>
  /** How far a library is followed, for what keeps that with its own data; otherwise the follower's row says it. */
  readonly position?: (libraryKey: number) => Promise<number>
  /** Called when following in the background fails; the next wake or catchUp tries again. */
  readonly onError: (error: unknown) => void
}

/**
 * Follows the commits of each library, in order, each exactly once, and keeps what is derived from them (I3). It
 * never holds up a write; who needs it up to date asks `catchUp` first.
 */
export class CommitFollower {
  readonly #options: FollowerOptions
  readonly #running = new Map<number, Promise<void>>()
  /** How far each library is followed, as far as this process knows. */
  readonly #positions = new Map<number, number>()
  readonly #woken = new Map<number, LibraryInfo>()
  /** Woken long enough ago, in the order in which they are to be followed. */
  readonly #due = new Map<number, LibraryInfo>()
  /** What is followed in the background: by library, its owner. */
  readonly #busy = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  /** Follows a library in the background, soon. */
  wake(library: LibraryInfo): void {
    if (this.#stopped) return
    this.#woken.set(library.key, library)
    this.#timer ??= this.#wait(LONGEST_DELAY_MS)
  }

  /** Resolves once every commit up to the library's head is followed. Throws library-not-found if it is purged. */
  async catchUp(library: LibraryInfo): Promise<void> {
    while ((this.#positions.get(library.key) ?? 0) < library.headSeq) {
      const running = this.#running.get(library.key)
      await (running ?? this.#start(library))
    }
  }

  /** For who knows that what was derived is gone: the next catchUp looks where it stands. */
  forget(libraryKey?: number): void {
    if (libraryKey === undefined) this.#positions.clear()
    else this.#positions.delete(libraryKey)
  }

  /** Resolves when nothing of a library is being followed; what that throws is heard by who asked for it. */
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
      // Deleted, or even purged, since it was changed: followed once it is restored and asked about.
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
    const position = this.#options.position ?? ((key) => followedSeq(db, key, name))
    let seq = await position(library.key)
    while (seq < library.headSeq && !this.#stopped) {
      await refusePurged(db, library)
      const reached = await step(library, seq, Math.min(seq + COMMITS_A_STEP, library.headSeq))
      // Another process may have been here first; its position is the truth.
      seq = reached ?? (await position(library.key))
      await nextTurn()
    }
    if (this.#stopped && seq < library.headSeq) throw new Error(`the follower ${name} is stopping`)
    this.#positions.delete(library.key)
    this.#positions.set(library.key, seq)
    for (const key of this.#positions.keys()) {
      if (this.#positions.size <= MOST_POSITIONS_KEPT) break
      this.#positions.delete(key)
    }
  }
}

/** Throws library-not-found for a library that is purged, or being purged. */
async function refusePurged(db: Database, { key, id }: LibraryInfo): Promise<void> {
  if ((await findLibraryWithDeleted(db, key)) === undefined) fail({ code: 'library-not-found', id })
}

/** Throws library-not-found for a library that is deleted or purged: what follows it only while it can be seen stops. */
export async function refuseDeleted(db: Database, { key, id }: LibraryInfo): Promise<void> {
  if ((await findLibraryByKey(db, key)) === undefined) fail({ code: 'library-not-found', id })
}

/** Whether something ended because its library did. */
export function isGone(error: unknown): boolean {
  return error instanceof DomainError && error.fault.code === 'library-not-found'
}
