const MIN_ROWS = 16
const MAX_ROWS = 256
/** A writer may wait for one transaction of garbage collection. */
const TARGET_MS = 5

/**
 * How many rows the next transaction changes. It follows the time that the last one took, so that writers wait about 5 ms at most, on a slow disk and with
 * large rows, too.
 */
export class StepSize {
  readonly #clockMs: () => number
  #rows = MIN_ROWS * 4

  constructor(clockMs = () => performance.now()) {
    this.#clockMs = clockMs
  }

  get rows(): number {
    return this.#rows
  }

  /** Runs one step of at most `rows` rows. */
  async run<Result>(step: () => Promise<Result>): Promise<Result> {
    const began = this.#clockMs()
    const result = await step()
    const tookMs = this.#clockMs() - began
    if (tookMs > TARGET_MS) this.#rows = Math.max(MIN_ROWS, this.#rows >> 1)
    else if (tookMs < TARGET_MS / 2) this.#rows = Math.min(MAX_ROWS, this.#rows * 2)
    return result
  }
}
