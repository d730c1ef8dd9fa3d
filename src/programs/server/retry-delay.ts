/** When work that failed may be tried again: after a delay that doubles with each failure (exponential backoff). Times in milliseconds. */
export class RetryDelay {
  readonly #minMs: number
  readonly #maxMs: number
  #delayMs = 0
  #dueAtMs = 0

  constructor(minMs: number, maxMs: number) {
    this.#minMs = minMs
    this.#maxMs = maxMs
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs
  }

  /** Returns the delay. */
  failed(nowMs: number): number {
    this.#delayMs = Math.min(Math.max(this.#minMs, 2 * this.#delayMs), this.#maxMs)
    this.#dueAtMs = nowMs + this.#delayMs
    return this.#delayMs
  }

  succeeded(): void {
    this.#delayMs = 0
    this.#dueAtMs = 0
  }
}
