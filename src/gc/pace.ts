import { setTimeout as wait } from 'node:timers/promises'

/** Longest rest between two steps, in milliseconds. */
const LONGEST_REST_MS = 200

/** Rests after each step as long as the step took, so that garbage collection uses at most half of the time of the database. */
export class Pace {
  readonly #signal: AbortSignal | undefined
  #from = performance.now()

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  /** Throws the reason of the signal. */
  async rest(): Promise<void> {
    this.#signal?.throwIfAborted()
    const took = performance.now() - this.#from
    await wait(Math.min(LONGEST_REST_MS, took))
    this.#signal?.throwIfAborted()
    this.#from = performance.now()
  }
}
