/**
 * Measures turns of the event loop of this thread, in milliseconds of CPU time. Wall time would count what other processes of a busy machine take.
 * CPU time of the threads for hashing, decoding and files is not counted, because nobody waits for their turns.
 */
export class TurnMeter implements Disposable {
  #longestMs = 0
  #lastMs = 0
  #next: NodeJS.Immediate | undefined

  constructor() {
    this.#turn()
  }

  /** The longest turn since the last call. */
  takeLongestMs(): number {
    const longestMs = this.#longestMs
    this.#longestMs = 0
    this.#lastMs = cpuMs()
    return longestMs
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next)
  }

  readonly #turn = (): void => {
    const now = cpuMs()
    this.#longestMs = Math.max(this.#longestMs, now - this.#lastMs)
    this.#lastMs = now
    // Unreferenced, so that the loop still waits for events instead of spinning. It runs once in every turn.
    this.#next = setImmediate(this.#turn).unref()
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
