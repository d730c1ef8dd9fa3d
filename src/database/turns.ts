/** Lets one holder at a time through, in the order they came. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves to the function that ends the turn. */
  async take(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}
