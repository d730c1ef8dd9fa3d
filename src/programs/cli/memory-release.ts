import { DatabaseSync } from 'node:sqlite'

// Time between two looks at the event loop.
const INTERVAL_MS = 10_000
// Intervals in a row without work before memory is released. A pause between two requests of one user is shorter.
const IDLE_INTERVALS = 6
// Shares of the time that the event loop was busy. Timers and probes of a monitor take less than the first.
const IDLE_UTILIZATION = 0.05
const BUSY_UTILIZATION = 0.1

/**
 * Collects all garbage and returns the pages to the system, which V8 and malloc would keep while the server is idle. Blocks the event loop
 * for tens of milliseconds, so nobody may be waiting. `bin/node-flags.cjs` exposes `gc`.
 */
export function releaseMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  trimMalloc()
}

/** Decides when an idle process should release the memory that a busy time left behind. */
export class IdleDetector {
  #wasBusy = false
  #idleIntervals = 0

  /** To be called once per interval with the event loop utilization in it. True once after each busy time. */
  isDue(utilization: number): boolean {
    if (utilization > BUSY_UTILIZATION) this.#wasBusy = true
    this.#idleIntervals = utilization < IDLE_UTILIZATION ? this.#idleIntervals + 1 : 0
    if (!this.#wasBusy || this.#idleIntervals < IDLE_INTERVALS) return false
    this.#wasBusy = false
    return true
  }
}

/**
 * When the process has been idle for a minute after it was busy, evicts caches with `releaseCaches` and returns the memory, once for each
 * busy time.
 */
export function releaseMemoryWhenIdle(releaseCaches: () => Promise<void>): Disposable {
  const detector = new IdleDetector()
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    // Caches that could not be released are kept.
    if (detector.isDue(utilization)) void releaseCaches().then(releaseMemory, releaseMemory)
  }, INTERVAL_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Returns the free pages in the heaps of glibc's malloc to the system. By itself malloc returns only the end of a heap, and few small
 * allocations keep hundreds of megabytes before them: pages of SQLite, buffers, the memory of threads that ended.
 *
 * Node cannot call `malloc_trim`, but SQLite can: an extension is a library and the name of a function in it. It is called with pointers
 * instead of the number of bytes to keep, which only applies to the end of the first heap. Its result 1, for "memory was returned", is an
 * error to SQLite. Other C libraries do not have the function, which is an error, too.
 */
export function trimMalloc(): void {
  if (process.platform !== 'linux') return
  const connection = new DatabaseSync(':memory:', { allowExtension: true })
  try {
    connection.loadExtension('libc.so.6', 'malloc_trim')
  } catch {
    // See above.
  } finally {
    connection.close()
  }
}
