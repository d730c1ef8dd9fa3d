/**
 * The operations that run in this process, with the times at which they began, in seconds. Garbage collection deletes nothing that was
 * condemned since the oldest of them began, because it may rely on rows and files that nothing refers to yet.
 */
export class RunningOperations {
  readonly #now: () => number
  /** In the order of their beginning, so that the first is the oldest. */
  readonly #began = new Map<number, number>()
  #count = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Dispose of the result when the operation is over. Disposing twice is harmless. */
  begin(): Disposable {
    const number = this.#count++
    this.#began.set(number, this.#now())
    return { [Symbol.dispose]: () => void this.#began.delete(number) }
  }

  /** When the oldest operation began, of those that began at or after `earliest`; undefined if there is none. */
  oldest(earliest: number): number | undefined {
    for (const began of this.#began.values()) if (began >= earliest) return began
    return undefined
  }
}
