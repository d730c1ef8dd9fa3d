import { setTimeout as wait } from 'node:timers/promises'

const WORK_MS = 40
const REST_MS = 10

/** Leaves a share of the machine to others: rests for 10 ms after every 40 ms of work. */
export class Pacer {
  readonly #signal: AbortSignal
  #since = performance.now()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  get isDue(): boolean {
    return performance.now() - this.#since > WORK_MS
  }

  /** Throws the reason of the signal. */
  async rest(): Promise<void> {
    this.#signal.throwIfAborted()
    await wait(REST_MS)
    this.#signal.throwIfAborted()
    this.#since = performance.now()
  }

  async restIfDue(): Promise<void> {
    if (this.isDue) await this.rest()
  }
}
