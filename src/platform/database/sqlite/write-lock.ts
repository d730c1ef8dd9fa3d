import { DatabaseError } from '../errors.ts'
import { Mutex } from '../mutex.ts'
import type { GrantedLock, ProcessLocks } from '../process-locks.ts'

/** Orders the writers of one file. */
export interface WriteLock {
  /** Resolves to the function that unlocks. */
  lock(): Promise<() => void>
  /** Whether no process was in or waiting for a mutex when this process got the lock. */
  mutexWasFree(key: number): boolean
  /** Runs `work` while no other process runs work with the same key. Waits for at most ten seconds. */
  withMutex<T>(key: number, work: () => Promise<T>): Promise<T>
}

/** The lock of one process that is alone with the file. */
export class LocalWriteLock extends Mutex implements WriteLock {
  mutexWasFree(): boolean {
    return true
  }

  withMutex<T>(_key: number, work: () => Promise<T>): Promise<T> {
    return work()
  }
}

interface Waiting {
  resolve(unlock: () => void): void
  reject(error: unknown): void
}

/** Transactions of one process that wait run one after the other for this long before the next process has its turn. */
const TURN_MS = 4
/** As long as a writer waits for the lock of a program that is none of our processes. */
const TIMEOUT_MS = 30_000
const MUTEX_TIMEOUT_MS = 10_000

/**
 * The write lock that several processes share. Nobody polls: a process waits until the lock is granted to it. Its own writers have it in the order in
 * which they came, several in one turn, because passing it on takes a round trip between processes.
 */
export class SharedWriteLock implements WriteLock {
  readonly #locks: ProcessLocks
  readonly #name: string
  readonly #waiting: Waiting[] = []
  #granted: GrantedLock | undefined
  #isRunning = false

  constructor(locks: ProcessLocks, name: string) {
    this.#locks = locks
    this.#name = name
  }

  lock(): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    this.#waiting.push({ resolve, reject })
    if (!this.#isRunning) void this.#run()
    return promise
  }

  mutexWasFree(key: number): boolean {
    return this.#granted?.wasFree(mutexName(key)) ?? false
  }

  async withMutex<T>(key: number, work: () => Promise<T>): Promise<T> {
    // A transaction that found the mutex free may be about to commit.
    const options = { timeoutMs: MUTEX_TIMEOUT_MS, after: this.#name }
    const granted = await this.#locks.lock(mutexName(key), options).catch(() => undefined)
    try {
      return await work()
    } finally {
      granted?.release()
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) await this.#takeTurn()
    this.#isRunning = false
  }

  async #takeTurn(): Promise<void> {
    let granted: GrantedLock
    try {
      granted = await this.#locks.lock(this.#name, { timeoutMs: TIMEOUT_MS })
    } catch (cause) {
      const error = new DatabaseError('busy', 'Another process has the write lock for too long.', { cause })
      for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
      return
    }
    this.#granted = granted
    const end = performance.now() + TURN_MS
    for (let next = this.#waiting.shift(); next !== undefined; ) {
      const { promise, resolve } = Promise.withResolvers<void>()
      next.resolve(resolve)
      await promise
      next = performance.now() < end ? this.#waiting.shift() : undefined
    }
    this.#granted = undefined
    granted.release()
  }
}

function mutexName(key: number): string {
  return `mutex ${key}`
}
