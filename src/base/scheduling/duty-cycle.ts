import { setTimeout as wait } from 'node:timers/promises'

const MAX_REST_MS = 200

/**
 * Limits long background work to a share of the time, so that requests come first: it rests after every `workMs` of work, in proportion to
 * the time the work took, for at most 200 ms.
 */
export class DutyCycle {
  readonly #restPerWork: number
  readonly #workMs: number
  readonly #signal: AbortSignal | undefined
  #since = performance.now()

  constructor(
    { share, workMs = 0 }: { readonly share: number; readonly workMs?: number },
    signal: AbortSignal | undefined,
  ) {
    this.#restPerWork = 1 / share - 1
    this.#workMs = workMs
    this.#signal = signal
  }

  get isDue(): boolean {
    return performance.now() - this.#since > this.#workMs
  }

  /** Throws the reason of the signal. */
  async rest(): Promise<void> {
    this.#signal?.throwIfAborted()
    await wait(Math.min(MAX_REST_MS, (performance.now() - this.#since) * this.#restPerWork))
    this.#signal?.throwIfAborted()
    this.#since = performance.now()
  }

  async restIfDue(): Promise<void> {
    if (this.isDue) await this.rest()
  }
}
