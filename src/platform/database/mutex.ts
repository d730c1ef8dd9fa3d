/** Mutex. Waiting callers are served in order. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Resolves to the function that unlocks. */
  async lock(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}
