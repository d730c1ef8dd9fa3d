/** The keys that bytes are charged to. A client can hold at most its share of a budget. */
export type BudgetKeys = readonly string[]

interface ByteBudgetOptions {
  /** Bytes of all keys together. */
  readonly total: number
  /** Bytes of one key. A single request above it is granted to a key that holds nothing else. */
  readonly share: number
  /** Timeout of a waiting request. */
  readonly waitMs: number
  /** Maximum number of waiting requests of all clients. */
  readonly mostWaiting?: number
}

interface Waiter {
  readonly keys: BudgetKeys
  readonly bytes: number
  readonly resolve: (granted: boolean) => void
  readonly timer: NodeJS.Timeout
}

const MAX_WAITING = 1000

/**
 * A semaphore of bytes. Requests that do not fit wait in a queue, which serves the client that holds the least first, so
 * that many requests of one client never delay another client's.
 */
export class ByteBudget {
  readonly #options: Required<ByteBudgetOptions>
  readonly #held = new Map<string, number>()
  /** In order of arrival. */
  readonly #waiting = new Set<Waiter>()
  #used = 0

  constructor(options: ByteBudgetOptions) {
    this.#options = { mostWaiting: MAX_WAITING, ...options }
  }

  get used(): number {
    return this.#used
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Number of keys that hold bytes, for tests. */
  get holders(): number {
    return this.#held.size
  }

  /** Whether this many bytes could ever be granted at once. */
  canHold(bytes: number): boolean {
    return bytes <= this.#options.total
  }

  /** Takes bytes if they are available and no request waits for them. */
  tryTake(keys: BudgetKeys, bytes: number): boolean {
    if (this.#waiting.size > 0 || !this.fits(keys, bytes)) return false
    this.#take(keys, bytes)
    return true
  }

  /** Resolves to false after the timeout, or if too many requests wait already. */
  take(keys: BudgetKeys, bytes: number): Promise<boolean> {
    if (this.tryTake(keys, bytes)) return Promise.resolve(true)
    const { mostWaiting, waitMs } = this.#options
    if (this.#waiting.size >= mostWaiting || !this.canHold(bytes)) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(waiter, false), waitMs)
      const waiter: Waiter = { keys, bytes, resolve, timer }
      this.#waiting.add(waiter)
      // Others may be waiting only for their own share.
      this.#serve()
    })
  }

  /** Takes bytes that are in use already, also beyond the budget. */
  charge(keys: BudgetKeys, bytes: number): void {
    this.#take(keys, bytes)
  }

  release(keys: BudgetKeys, bytes: number): void {
    if (bytes === 0) return
    this.#used -= bytes
    for (const key of keys) {
      const left = (this.#held.get(key) ?? 0) - bytes
      if (left > 0) this.#held.set(key, left)
      else this.#held.delete(key)
    }
    if (this.#waiting.size > 0) this.#serve()
  }

  #take(keys: BudgetKeys, bytes: number): void {
    this.#used += bytes
    for (const key of keys) this.#held.set(key, (this.#held.get(key) ?? 0) + bytes)
  }

  /** Whether the bytes are available now. */
  fits(keys: BudgetKeys, bytes: number): boolean {
    return this.#isInTotal(bytes) && this.#isInShare(keys, bytes)
  }

  #isInTotal(bytes: number): boolean {
    return this.#used + bytes <= this.#options.total
  }

  #isInShare(keys: BudgetKeys, bytes: number): boolean {
    return keys.every((key) => {
      const held = this.#held.get(key) ?? 0
      return held === 0 || held + bytes <= this.#options.share
    })
  }

  /**
   * Grants requests, the client with the fewest bytes first. Stops at the first that must wait for other
   * clients.
   */
  #serve(): void {
    for (;;) {
      let next: Waiter | undefined
      let fewest = Number.POSITIVE_INFINITY
      for (const waiter of this.#waiting) {
        const held = Math.max(0, ...waiter.keys.map((key) => this.#held.get(key) ?? 0))
        if (held >= fewest || !this.#isInShare(waiter.keys, waiter.bytes)) continue
        fewest = held
        next = waiter
      }
      if (next === undefined || !this.#isInTotal(next.bytes)) return
      this.#take(next.keys, next.bytes)
      this.#end(next, true)
    }
  }

  #end(waiter: Waiter, granted: boolean): void {
    clearTimeout(waiter.timer)
    this.#waiting.delete(waiter)
    waiter.resolve(granted)
    if (!granted) this.#serve()
  }
}
