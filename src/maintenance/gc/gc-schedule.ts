import type { GarbageCollector } from './collector.ts'

const FIRST_AFTER_MS = 60_000
const MAX_PAUSE_MS = 3_600_000
const MIN_PAUSE_MS = 5_000
/** After something was purged or given up: several such changes are collected together. */
const SOON_MS = 10_000

/**
 * Collects continuously: about four times per grace period, at least every hour, and soon after something was given up. The next pause
 * begins when a run has ended. Of several nodes one collects.
 */
export class GcSchedule implements AsyncDisposable {
  readonly #collector: GarbageCollector
  readonly #onError: (error: unknown) => void
  readonly #hold: () => Promise<boolean>
  readonly #pauseMs: number
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout
  #dueAt: number
  #running: Promise<void> = Promise.resolve()

  constructor(
    collector: GarbageCollector,
    options: {
      readonly graceSeconds: number
      /** Takes or keeps the lease. False if another node collects. */
      readonly hold: () => Promise<boolean>
      readonly onError: (error: unknown) => void
    },
  ) {
    const { graceSeconds, hold, onError } = options
    this.#collector = collector
    this.#onError = onError
    this.#hold = hold
    this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, graceSeconds * 250))
    const firstMs = Math.min(FIRST_AFTER_MS, this.#pauseMs)
    this.#dueAt = performance.now() + firstMs
    this.#timer = this.#after(firstMs)
  }

  /** Something was given up. */
  soon(): void {
    if (performance.now() + SOON_MS >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = performance.now() + SOON_MS
    this.#timer = this.#after(SOON_MS)
  }

  /** Interrupts a run. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error('the server is stopping'))
    clearTimeout(this.#timer)
    await this.#running
  }

  #after(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#running = this.#run()
    }, ms).unref()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    if (signal.aborted) return
    this.#dueAt = Number.POSITIVE_INFINITY
    try {
      if (await this.#hold()) await this.#collector.runOnce({ signal })
    } catch (error) {
      if (!signal.aborted) this.#onError(error)
    }
    if (signal.aborted) return
    clearTimeout(this.#timer)
    this.#dueAt = performance.now() + this.#pauseMs
    this.#timer = this.#after(this.#pauseMs)
  }
}
