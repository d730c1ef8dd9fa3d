/**
 * Remembers what was used last, up to a weight, in two generations: what is used moves to the younger, and when that
 * is half of all, the elder is forgotten. To find something again costs one look and moves nothing.
 */
export class Recent<Key, Value> {
  readonly #most: number
  readonly #weigh: (value: Value) => number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()
  #weight = 0

  constructor(most: number, weigh: (value: Value) => number) {
    this.#most = most
    this.#weigh = weigh
  }

  find(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.remember(key, old)
    return old
  }

  /** What weighs more than half of all is not remembered. A key means the same value each time. */
  remember(key: Key, value: Value): void {
    const weight = this.#weigh(value)
    if (weight > this.#most / 2 || this.#young.has(key)) return
    if (this.#weight + weight > this.#most / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
    }
    this.#old.delete(key)
    this.#young.set(key, value)
    this.#weight += weight
  }
}
