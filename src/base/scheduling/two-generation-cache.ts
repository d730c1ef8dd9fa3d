/**
 * Bounded cache with approximate LRU eviction. A used entry moves to the young generation. When that reaches half of the maximum weight, it
 * becomes the old one, and the previous old one is evicted. A hit in the young generation is one lookup.
 */
export class TwoGenerationCache<Key, Value> {
  readonly #maxWeight: number
  readonly #weigh: (value: Value) => number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()
  #weight = 0

  constructor(maxWeight: number, weigh: (value: Value) => number) {
    this.#maxWeight = maxWeight
    this.#weigh = weigh
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  /** Entries heavier than half of the maximum are not cached. A key must always stand for the same value. */
  set(key: Key, value: Value): void {
    const weight = this.#weigh(value)
    if (weight > this.#maxWeight / 2 || this.#young.has(key)) return
    if (this.#weight + weight > this.#maxWeight / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
    }
    this.#old.delete(key)
    this.#young.set(key, value)
    this.#weight += weight
  }

  /** Its weight stays counted until the generation ends. */
  delete(key: Key): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
    this.#weight = 0
  }
}
