import { setTimeout as wait } from 'node:timers/promises'
import type { ChoreLog } from './chore-log.ts'

/** Something to be tidied up now and then. It may be repeated, and interrupted at any time. */
export interface Chore {
  readonly name: string
  /** Walks through all there is: after a start it waits until those who came back first have been served. */
  readonly isLong?: boolean
  run(): Promise<unknown>
}

const HOUR_MS = 3_600_000
const LONG_AFTER_MS = 60_000

/**
 * Runs chores once at the start, long ones a minute after it, and then every hour, one after another. One that fails is
 * reported and tried again the next time; it holds up nothing.
 */
export class Upkeep implements AsyncDisposable {
  readonly #chores: readonly Chore[]
  readonly #onError: (chore: string, error: unknown) => void
  readonly #log: ChoreLog
  readonly #timer: NodeJS.Timeout
  readonly #stopping = new AbortController()
  readonly #longFrom = performance.now() + LONG_AFTER_MS
  #running: Promise<void>

  constructor(chores: readonly Chore[], log: ChoreLog, onError: (chore: string, error: unknown) => void) {
    this.#chores = chores
    this.#log = log
    this.#onError = onError
    this.#running = this.#runAll()
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#runAll())
    }, HOUR_MS).unref()
  }

  /** Resolves when the round under way is done. */
  settled(): Promise<void> {
    return this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#timer)
    await this.#running
  }

  async #runAll(): Promise<void> {
    for (const chore of this.#chores) {
      if (chore.isLong) await this.#untilLong()
      if (this.#stopping.signal.aborted) return
      await this.#run(chore)
    }
  }

  async #untilLong(): Promise<void> {
    const leftMs = this.#longFrom - performance.now()
    const { signal } = this.#stopping
    if (leftMs > 0 && !signal.aborted) await wait(leftMs, undefined, { signal, ref: false }).catch(() => {})
  }

  async #run(chore: Chore): Promise<void> {
    const began = performance.now()
    let failed = false
    try {
      await chore.run()
    } catch (error) {
      failed = true
      this.#onError(chore.name, error)
    }
    this.#log.note(chore.name, { durationMs: Math.round(performance.now() - began), failed })
  }
}
